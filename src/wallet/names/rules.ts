import { formatAmountMsat, MSAT_PER_SAT } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import type { NameRecord, NameStanding } from '../../store/ports.ts';

/** The balance that claiming a name needs (docs/decisions.md 99). */
const CLAIM_BALANCE_MSAT = 10_000n * MSAT_PER_SAT;
const HOUR_MS = 3_600_000;
/** How long a name can be changed after it was claimed (docs/decisions.md 99). */
const WINDOW_MS = 24 * HOUR_MS;
/** How long a name cannot be changed after the window in which it can. */
const FREEZE_MS = 90 * 24 * HOUR_MS;

/** The claim of a username, with everything that decides it besides the names that there are. */
export interface NameClaim extends Omit<NameRecord, 'windowAtMs'> {
  /** Already checked against the rule of usernames (docs/api.md, Limits). */
  readonly username: string;
  /** The domain of all names, for messages. It is not stored, so that all names follow when it changes. */
  readonly domain: string;
  /** The balance of the wallet, Lightning and on chain together. */
  readonly balanceMsat: bigint;
  readonly nowMs: number;
}

/**
 * Decides a claim or change of a name (docs/decisions.md 99). Returns the wallet's name afterwards; asking for the
 * present name changes nothing. Throws `refused` when the balance is too low, the present name is frozen, or another
 * wallet has the username.
 */
export function decideClaim(claim: NameClaim, { current, holder }: NameStanding): NameRecord {
  const { walletId, nodeKind, username, domain, balanceMsat, offer, nowMs } = claim;
  if (current?.username === username) return current;
  if (balanceMsat < CLAIM_BALANCE_MSAT) {
    throw refused(
      `A name needs a balance of at least ${formatAmountMsat(CLAIM_BALANCE_MSAT)} sats; receive ${formatAmountMsat(CLAIM_BALANCE_MSAT - balanceMsat)} sats more and try again.`,
    );
  }
  if (current !== null && !isUpdatable(current, nowMs)) {
    const until = new Date(frozenUntilMs(current)).toISOString();
    throw refused(`The name ${current.username} is frozen; change it after ${until}.`);
  }
  if (holder !== null) throw refused(`The name ${username}@${domain} is taken; choose another.`);
  const windowAtMs = current === null ? nowMs : windowAfterChange(current, nowMs);
  return { walletId, nodeKind, username, offer, windowAtMs };
}

/** Returns whether a name can be changed now: within its 24 hours, and after the freeze. */
export function isUpdatable(name: Pick<NameRecord, 'windowAtMs'>, nowMs: number): boolean {
  return nowMs < name.windowAtMs + WINDOW_MS || nowMs >= frozenUntilMs(name);
}

function frozenUntilMs({ windowAtMs }: Pick<NameRecord, 'windowAtMs'>): number {
  return windowAtMs + WINDOW_MS + FREEZE_MS;
}

/**
 * The start of the 24 hours after a name is changed now. A change within them does not make them longer; the first
 * change after the freeze opens the next 24 hours (docs/decisions.md 99).
 */
function windowAfterChange(name: NameRecord, nowMs: number): number {
  return nowMs >= frozenUntilMs(name) ? nowMs : name.windowAtMs;
}
