import type { HumanBitcoinName } from '../codecs/human-bitcoin-address.ts';
import { ApiError } from '../model/errors.ts';
import { serviceFailed } from './service-error.ts';
import type { ResolveTxt } from './txt-resolver.ts';

interface NameResolverOptions {
  readonly resolveTxt: ResolveTxt;
  /** Returns the URI of a name that this sidecar serves itself (on the sandbox); null for all other names. */
  readonly localZone: (dnsName: string) => Promise<string | null>;
}

/**
 * Creates a function that resolves a Human Bitcoin Address to its BIP 321 URI (BIP 353; docs/decisions.md 98). It
 * throws error 107 for a name without a record, and error 113 for a name that cannot be looked up or proven.
 */
export function createNameResolver(
  options: NameResolverOptions,
): (name: HumanBitcoinName) => Promise<string> {
  return async ({ username, domain, dnsName }) => {
    const local = await options.localZone(dnsName);
    if (local !== null) return local;
    const texts = await publicTexts(options, dnsName);
    const records = texts.filter(isPaymentRecord);
    const [record] = records;
    if (record === undefined) {
      throw new ApiError(
        'notFound',
        `₿${username}@${domain} has no payment record: check the name.`,
      );
    }
    if (records.length > 1) {
      throw serviceFailed(
        'unusable_answer',
        `₿${username}@${domain} has several payment records, so none can be trusted.`,
      );
    }
    return textOf(record);
  };
}

/** Looks at the first bytes only, so that other records are ignored even when they are not text. */
function isPaymentRecord(bytes: Uint8Array): boolean {
  return /^bitcoin:/i.test(Buffer.from(bytes.subarray(0, 8)).toString('latin1'));
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw serviceFailed(
      'unusable_answer',
      'The record of this Human Bitcoin Address is not text: ask the receiver for another way to pay.',
      cause,
    );
  }
}

/** Asks no resolver about a host with a port or in brackets: only the sandbox serves those. */
async function publicTexts(
  { resolveTxt }: NameResolverOptions,
  dnsName: string,
): Promise<readonly Uint8Array[]> {
  return /[:[]/.test(dnsName) ? [] : ((await resolveTxt(dnsName)) ?? []);
}
