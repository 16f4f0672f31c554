/** The formats whose readers and writers live in this folder, as they are named in error messages. */
export type CodecFormat =
  | 'bech32'
  | 'tlv'
  | 'bolt11'
  | 'bolt12'
  | 'payer-proof'
  | 'bip321'
  | 'address'
  | 'lnurl'
  | 'lightning-address'
  | 'human-bitcoin-address'
  | 'payment-string'
  | 'dns';

/**
 * A string or byte stream that is not a valid value of its format, or a value that the format cannot hold.
 * The message is one sentence for the person who supplied it: it names the rule that was broken and never
 * echoes the whole input.
 */
export class CodecError extends Error {
  override readonly name = 'CodecError';
  constructor(
    readonly format: CodecFormat,
    message: string,
  ) {
    super(message);
  }
}
