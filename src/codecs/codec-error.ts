/** The formats of this folder, by the names that errors carry. */
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
 * Invalid input: a string or byte stream that breaks a rule of its format, or a value that the format cannot hold. The
 * message is one sentence for the person who supplied the input. It names the broken rule and never repeats the whole
 * input.
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

/** Returns what `read` returns, or what `explain` makes of its {@link CodecError}. Other errors are thrown on. */
export function readOr<T, Explained>(
  read: () => T,
  explain: (error: CodecError) => Explained,
): T | Explained {
  try {
    return read();
  } catch (error) {
    return explainedCodecError(error, explain);
  }
}

/** {@link readOr} for work that takes time. */
export async function readOrLater<T, Explained>(
  read: () => Promise<T>,
  explain: (error: CodecError) => Explained,
): Promise<T | Explained> {
  try {
    return await read();
  } catch (error) {
    return explainedCodecError(error, explain);
  }
}

function explainedCodecError<Explained>(
  error: unknown,
  explain: (error: CodecError) => Explained,
): Explained {
  if (error instanceof CodecError) return explain(error);
  throw error;
}
