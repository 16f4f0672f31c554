import { isPreimageOf } from '../../codecs/preimage.ts';
import { isApiError } from '../../model/errors.ts';
import { serviceFailed } from '../service-error.ts';
import type { Challenge, Claim, Dialect, Mac, Reading, Sale } from './challenge.ts';
import { l402 } from './l402.ts';
import { paymentScheme } from './payment-scheme.ts';
import { x402 } from './x402.ts';

export type { Challenge, Claim, Mac, ResourceRequest } from './challenge.ts';
export { requestText, type SoldRequest } from './x402.ts';

/** The ways of asking for payment, the one that binds most to its request first. */
const DIALECTS: Readonly<Record<Challenge['dialect'], Dialect>> = {
  x402,
  payment: paymentScheme,
  l402,
};

/** Returns the first challenge of a 402 that is right. Throws error 113, saying what is wrong, for none. */
export function challengeIn(headers: Headers, reading: Reading): Challenge {
  let wrong: unknown = null;
  for (const dialect of Object.values(DIALECTS)) {
    try {
      const [first] = dialect.read(headers, reading);
      if (first) return first;
    } catch (error) {
      if (!isApiError(error)) throw error;
      wrong ??= error;
    }
  }
  throw (
    wrong ??
    serviceFailed(
      'unusable_answer',
      'The service asks for payment in no way that this wallet knows: L402, Payment with Lightning, or x402 with Lightning on its network.',
    )
  );
}

/** Returns the header that proves the payment of a challenge. */
export function proofOf(
  { dialect, token }: Pick<Challenge, 'dialect' | 'token'>,
  preimage: string,
): readonly [name: string, value: string] {
  return DIALECTS[dialect].proof(token, preimage);
}

/** Header lines for each way of asking for payment; null for a way that cannot ask for this sale. */
export type Challenges = Readonly<Record<Challenge['dialect'], readonly string[] | null>>;

/** Returns the challenges that ask for one sale. */
export function challengesOf(sale: Sale): Challenges {
  return { l402: l402.ask(sale), payment: paymentScheme.ask(sale), x402: x402.ask(sale) };
}

/** A longer header is no proof: the longest holds an invoice of about 7,000 characters. */
const MOST_PROOF_CHARACTERS = 16_384;
/** More proofs of one way are not looked at: each costs a MAC or two. */
const MOST_PROOFS = 16;

/** Returns the proofs of payment in headers, for challenges made with `mac`; preimages are of their hashes. */
export function claimsIn(
  headers: Readonly<Record<string, string | readonly string[]>>,
  mac: Mac,
): readonly Claim[] {
  const values = Object.entries(headers).flatMap(([name, given]) =>
    [given].flat().map((value) => ({ name: name.toLowerCase(), value: value.trim() })),
  );
  return Object.values(DIALECTS).flatMap(({ proofHeader, claim }) =>
    values
      .filter(({ name, value }) => name === proofHeader && value.length <= MOST_PROOF_CHARACTERS)
      .slice(0, MOST_PROOFS)
      .map(({ value }) => claim(value, mac))
      .filter(isProven),
  );
}

function isProven(claim: ReturnType<Dialect['claim']>): claim is Claim {
  if (claim === null) return false;
  const { preimage, paymentHash } = claim;
  const isHex = typeof preimage === 'string' && /^[0-9a-f]{64}$/.test(preimage);
  return isHex && isPreimageOf(preimage, paymentHash);
}
