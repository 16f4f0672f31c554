import { decodeBip321 } from '../../codecs/bip321.ts';
import { bolt12PrefixOf, joinBolt12Parts } from '../../codecs/bolt12/index.ts';
import { readOr } from '../../codecs/codec-error.ts';
import { withoutLightningScheme } from './payment-string.ts';

/** Strings that mean the same in either case: bech32, offers and names; no base58 and no web addresses. */
const CASELESS = /^(?:(?:ln|bc1|tb1|bcrt1)[a-z0-9]*|₿?[a-z0-9._+-]*@[a-z0-9.:[\]-]*)$/i;

/**
 * Returns one canonical text for all spellings of a payment string: either case, offers joined with `+`, `lightning:`
 * before it, a BIP 321 URI around a single method (docs/decisions.md 46). It only serves to compare requests; payments
 * are made from the string as it was given. A string that cannot be read is returned as it is.
 */
export function canonicalPaymentString(text: string): string {
  const bare = withoutLightningScheme(text);
  if (!/^bitcoin:/i.test(bare)) return canonicalMethod(bare);
  return readOr(
    () => canonicalUri(bare),
    () => bare,
  );
}

function canonicalUri(uri: string): string {
  const { body, offers, lightning, addresses, amountMsat, requiredUnknown } = decodeBip321(uri);
  const named = [...(body === null ? [] : [body]), ...offers, ...lightning];
  const methods = [...named, ...addresses.map((address) => address.text)].map(canonicalMethod);
  const [only] = methods;
  const isPlain = methods.length === 1 && amountMsat === null && requiredUnknown.length === 0;
  if (isPlain && only !== undefined) return only;
  return JSON.stringify([methods, `${amountMsat}`, requiredUnknown]);
}

function canonicalMethod(text: string): string {
  const bare = withoutLightningScheme(text);
  const whole = bolt12PrefixOf(bare) === null ? bare : joinBolt12Parts(bare);
  return CASELESS.test(whole) ? whole.toLowerCase() : whole;
}
