import { CodecError } from './codec-error.ts';
import { MAX_AMOUNT_MSAT, NETWORKS } from './network.ts';

/** The parts of a BIP 321 URI. The payment methods in it are not read yet. */
export interface Bip321Uri {
  /** The text before the parameters: an address, or a name with its `₿`; null when it is empty. */
  readonly body: string | null;
  /** Parameters named after a segwit prefix, such as `bc` or `bcrt`; each may hold only addresses of that prefix. */
  readonly addresses: readonly { readonly prefix: string; readonly text: string }[];
  /** The values of `lightning`: BOLT 11 invoices, or other texts. */
  readonly lightning: readonly string[];
  /** BOLT 12 offers. */
  readonly offers: readonly string[];
  readonly amountMsat: bigint | null;
  readonly label: string | null;
  readonly message: string | null;
  /** Names, with `req-`, of required parameters that are not supported. If there are any, the URI must not be used. */
  readonly requiredUnknown: readonly string[];
}

const MSAT_PER_BTC = 100_000_000_000n;
const SEGWIT_PREFIXES: ReadonlySet<string> = new Set(
  Object.values(NETWORKS).map((network) => network.segwitPrefix),
);
/** The supported parameters. A proof of payment (`pop`) is not supported, so a required one prevents the payment. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  'amount',
  'label',
  'message',
  'lightning',
  'lno',
  ...SEGWIT_PREFIXES,
]);
/** Parameters that must not be given twice (BIP 321). */
const SINGLE: ReadonlySet<string> = new Set(['amount', 'label', 'message', 'pop']);

/**
 * Reads the parts of a `bitcoin:` URI (BIP 321). Names of parameters may be in upper or lower case, and a URI may hold
 * several payment methods. Unknown parameters and a fragment are ignored. Throws CodecError('bip321').
 */
export function decodeBip321(text: string): Bip321Uri {
  if (!text.isWellFormed()) invalid('it holds text that is not valid Unicode');
  const [uri] = splitOnce(text.replace(/^bitcoin:(?:\/\/)?/i, ''), '#');
  const [path, query] = splitOnce(uri, '?');
  // Browsers add a slash to an address that stands where web addresses have their host.
  const body = path.replace(/\/$/, '');
  const parameters = readParameters(query);
  const values = (wanted: string) =>
    parameters.flatMap(({ name, value }) => (name === wanted ? [value] : []));
  const [amount] = values('amount');
  return {
    body: body === '' ? null : decodePercent(body),
    addresses: parameters.flatMap(({ name, value }) =>
      SEGWIT_PREFIXES.has(name) ? [{ prefix: name, text: value }] : [],
    ),
    lightning: values('lightning'),
    offers: values('lno'),
    amountMsat: amount === undefined ? null : readAmountMsat(amount),
    label: values('label')[0] ?? null,
    message: values('message')[0] ?? null,
    requiredUnknown: parameters.flatMap(({ name, isRequired }) =>
      isRequired && !UNDERSTOOD.has(name) ? [`req-${name}`] : [],
    ),
  };
}

function invalid(rule: string): never {
  throw new CodecError('bip321', `The bitcoin: URI cannot be used: ${rule}.`);
}

interface Parameter {
  /** The name in lower case, without `req-`. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly value: string;
}

function readParameters(query: string): Parameter[] {
  const parameters = query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [rawName, value] = splitOnce(part, '=');
      const given = decodePercent(rawName).toLowerCase();
      const isRequired = given.startsWith('req-');
      const name = isRequired ? given.slice('req-'.length) : given;
      return { name, isRequired, value: decodePercent(value) };
    });
  for (const single of SINGLE) {
    const given = parameters.filter(({ name }) => name === single);
    if (given.length > 1) invalid(`it gives ${single} twice`);
  }
  return parameters;
}

function readAmountMsat(text: string): bigint {
  const match = /^(\d{0,8})(?:\.(\d{0,8}))?$/.exec(text);
  if (!match || (!match[1] && !match[2])) {
    invalid('its amount is not a decimal number of bitcoins with at most eight decimals');
  }
  const amountMsat =
    BigInt(match[1] || '0') * MSAT_PER_BTC + BigInt((match[2] ?? '').padEnd(8, '0')) * 1000n;
  if (amountMsat === 0n) invalid('its amount is zero');
  if (amountMsat > MAX_AMOUNT_MSAT) invalid('its amount is above 21 million bitcoins');
  return amountMsat;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return invalid('its percent-encoding is broken');
  }
}
