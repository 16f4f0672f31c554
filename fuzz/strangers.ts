import { CodecError } from '../src/codecs/codec-error.ts';
import { decodeLightningAddress } from '../src/codecs/lightning-address.ts';
import { decodeLnurl } from '../src/codecs/lnurl.ts';
import { parsePaymentString } from '../src/wallet/strings/payment-string.ts';
import type { WireRequest } from './wire.ts';

/**
 * Whether a request names a service outside this machine to which the wallet would send a request. Such requests are
 * not sent, so that no server of others is fuzzed. Addresses that are never requested may be named.
 */
export function asksStrangers({ target, body }: Pick<WireRequest, 'target' | 'body'>): boolean {
  const query = new URLSearchParams(target.split('?').slice(1).join('?'));
  return [...query.values(), ...textsOf(body)].some((text) => urlsOf(text).some(isStranger));
}

function textsOf(body: Uint8Array | null): string[] {
  const texts: string[] = [];
  try {
    JSON.parse(new TextDecoder().decode(body ?? new Uint8Array()), (_name, value: unknown) => {
      if (typeof value === 'string') texts.push(value);
      return null;
    });
  } catch {
    // A body that is not JSON reaches no reader of payment strings.
  }
  return texts;
}

function urlsOf(text: string): string[] {
  const readers: readonly (() => string[])[] = [
    () =>
      parsePaymentString(text).methods.flatMap((method) =>
        method.kind === 'lnurl' ? [method.url] : [],
      ),
    () => [decodeLnurl(text).url],
    () => [decodeLightningAddress(text).url],
    // An endpoint of webhooks may be any web address.
    () => (/^https?:/i.test(text) ? [text] : []),
  ];
  return readers.flatMap((read) => {
    try {
      return read();
    } catch (error) {
      if (error instanceof CodecError) return [];
      throw error;
    }
  });
}

function isStranger(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return !/^(localhost|127\.\d+\.\d+\.\d+|10\.\d+\.\d+\.\d+|\[::1\]|.*\.onion)$/.test(host);
}
