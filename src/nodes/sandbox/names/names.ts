import { formatAmountMsat, MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { HumanBitcoinAddress } from '../../../model/receive.ts';
import { createOffer } from '../offers/offers.ts';
import type { World } from '../world/world.ts';
import { frozenUntilMs, isUpdatable, windowAfterChange } from './window.ts';

/** The balance that claiming a name needs (docs/decisions.md 99). */
const CLAIM_BALANCE_MSAT = 10_000n * MSAT_PER_SAT;

/** The name that a wallet asks for. */
export interface NameClaim {
  /** Already checked against the rule of usernames (docs/api.md, Limits). */
  readonly username: string;
  /** The domain under which names are served. It is not stored, so that all names follow when it changes. */
  readonly domain: string;
  /** The balance of the wallet, Lightning and on chain together. */
  readonly balanceMsat: bigint;
}

interface NameRow {
  username: string;
  offer: string;
  window_ms: number;
}

/** The wallet's name, or null while none is claimed. */
export function humanBitcoinAddress(
  world: World,
  userPk: string,
  domain: string,
): HumanBitcoinAddress | null {
  const row = nameOf(world, userPk);
  return row && recordOf(world, row, domain);
}

/**
 * Claims or changes the wallet's name (docs/decisions.md 99). Each name gets an offer of its own; offers of names that
 * were given up can still be paid. Asking for the present name changes nothing. Throws `refused` when the balance is
 * too low, the name is taken, or the present name is frozen.
 */
export function claimUsername(world: World, userPk: string, claim: NameClaim): HumanBitcoinAddress {
  const { username, domain } = claim;
  return world.transact(() => {
    const nowMs = world.clock.now();
    const current = nameOf(world, userPk);
    if (current?.username === username) return recordOf(world, current, domain);
    if (claim.balanceMsat < CLAIM_BALANCE_MSAT) {
      throw refused(
        `A name needs a balance of at least ${formatAmountMsat(CLAIM_BALANCE_MSAT)} sats; receive ${formatAmountMsat(CLAIM_BALANCE_MSAT - claim.balanceMsat)} sats more and try again.`,
      );
    }
    if (current !== null && !isUpdatable(current.window_ms, nowMs)) {
      const until = new Date(frozenUntilMs(current.window_ms)).toISOString();
      throw refused(`The name ${current.username} is frozen; change it after ${until}.`);
    }
    if (findByUsername(world, username) !== null) {
      throw refused(`The name ${username}@${domain} is taken; choose another.`);
    }
    const { offer } = createOffer(
      world,
      { kind: 'wallet', userPk },
      { description: `${username}@${domain}`, minAmountMsat: null, expiresAtMs: null },
    );
    const windowMs = current === null ? nowMs : windowAfterChange(current.window_ms, nowMs);
    world.db
      .query(
        `INSERT INTO names (user_pk, username, offer, window_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT (user_pk) DO UPDATE SET username = excluded.username,
           offer = excluded.offer, window_ms = excluded.window_ms`,
      )
      .run(userPk, username, offer, windowMs);
    return recordOf(world, { username, offer, window_ms: windowMs }, domain);
  });
}

/** The wallet that claimed a username, or null. */
export function walletOfUsername(world: World, username: string): string | null {
  return findByUsername(world, username)?.user_pk ?? null;
}

/**
 * The TXT record of `<username>.user._bitcoin-payment.<domain>` (BIP 353), or null when no wallet claimed the username.
 * Letter case and a dot at the end of `dnsName` do not matter.
 */
export function zoneText(world: World, domain: string, dnsName: string): string | null {
  const name = dnsName.toLowerCase().replace(/\.$/, '');
  const suffix = `.user._bitcoin-payment.${domain.toLowerCase()}`;
  if (!name.endsWith(suffix)) return null;
  const row = findByUsername(world, name.slice(0, -suffix.length));
  return row && `bitcoin:?lno=${row.offer}`;
}

function nameOf(world: World, userPk: string): NameRow | null {
  return world.db
    .query<NameRow, [string]>('SELECT username, offer, window_ms FROM names WHERE user_pk = ?')
    .get(userPk);
}

function findByUsername(world: World, username: string): { user_pk: string; offer: string } | null {
  return world.db
    .query<{ user_pk: string; offer: string }, [string]>(
      'SELECT user_pk, offer FROM names WHERE username = ?',
    )
    .get(username);
}

function recordOf(world: World, row: NameRow, domain: string): HumanBitcoinAddress {
  const { username, offer } = row;
  return { username, domain, offer, updatable: isUpdatable(row.window_ms, world.clock.now()) };
}
