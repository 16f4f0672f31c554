import { CodecError } from '../../src/codecs/codec-error.ts';

/** The parts that a BIP 321 URI is written from. */
export interface Bip321Parts {
  readonly address?: string;
  readonly invoice?: string;
  readonly offer?: string;
  readonly amountMsat?: bigint;
  readonly label?: string;
  readonly message?: string;
}

const MSAT_PER_BTC = 100_000_000_000n;

/** Writes a `bitcoin:` URI (BIP 321). Throws CodecError('bip321') for an amount below one satoshi. */
export function encodeBip321(parts: Bip321Parts): string {
  const parameters: (readonly [string, string | undefined])[] = [
    ['amount', parts.amountMsat === undefined ? undefined : writeAmount(parts.amountMsat)],
    ['label', parts.label],
    ['message', parts.message],
    ['lightning', parts.invoice],
    ['lno', parts.offer],
  ];
  const query = parameters
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    )
    .join('&');
  return `bitcoin:${parts.address ?? ''}${query === '' ? '' : `?${query}`}`;
}

function writeAmount(amountMsat: bigint): string {
  if (amountMsat % 1000n !== 0n) {
    throw new CodecError('bip321', 'The amount of a bitcoin: URI must be whole satoshis.');
  }
  const decimals = ((amountMsat % MSAT_PER_BTC) / 1000n)
    .toString()
    .padStart(8, '0')
    .replace(/0+$/, '');
  const whole = amountMsat / MSAT_PER_BTC;
  return decimals === '' ? `${whole}` : `${whole}.${decimals}`;
}
