import { decodeHumanBitcoinAddress } from '../codecs/human-bitcoin-address.ts';
import { ApiError, refused } from '../model/errors.ts';
import type { ResolveTxt } from './dns-over-https.ts';

interface NameResolverOptions {
  readonly resolveTxt: ResolveTxt;
  /** Answers for names served by this sidecar itself (the sandbox); null for all others. */
  readonly localZone: (dnsName: string) => string | null;
}

/** Resolves a Human Bitcoin Address to its BIP 321 URI (BIP 353). */
export function createNameResolver(
  options: NameResolverOptions,
): (name: { username: string; domain: string }) => Promise<string> {
  return async ({ username, domain }) => {
    const { dnsName } = decodeHumanBitcoinAddress(`${username}@${domain}`);
    const texts = localTexts(options, dnsName) ?? (await options.resolveTxt(dnsName)) ?? [];
    const records = texts.filter((text) => /^bitcoin:/i.test(text));
    const [uri] = records;
    if (uri === undefined) {
      throw new ApiError(
        'notFound',
        `₿${username}@${domain} has no payment record: check the name.`,
      );
    }
    if (records.length > 1) {
      throw refused(`₿${username}@${domain} has several payment records, so none can be trusted.`);
    }
    return uri;
  };
}

function localTexts(options: NameResolverOptions, dnsName: string): readonly string[] | null {
  const text = options.localZone(dnsName);
  return text === null ? null : [text];
}
