import { base64, hex } from '@scure/base';
import { wholeSats } from '../../../model/amount.ts';
import { ApiError, isApiError, refused } from '../../../model/errors.ts';
import type { PayOnchainCommand, SignedSend } from '../../node.ts';
import { LND_LOCK_ID } from '../reads/coin-locks.ts';
import { sendSatPerVbyte } from '../reads/fee-rate.ts';
import {
  giveBack,
  LOCK_SECS,
  lockedCoins,
  lockedText,
  lockOf,
  readLeases,
  relock,
  withLocks,
} from '../reads/leases.ts';
import type { LndRest } from '../reads/rest.ts';
import { untrustedSat } from '../reads/transactions.ts';
import type { LndHandle, LndOwned } from '../reads/wallet.ts';
import { refusesToFund } from '../words/certainty.ts';
import { refusalText } from '../words/refusal.ts';
import { fundedPsbtShape } from '../words/wire.ts';

/** Time limit of choosing coins, signing and publishing, which take LND longer than other calls. */
export const SEND_TIMEOUT_MS = 60_000;
/** How often coins are chosen on an LND before 0.19, where another program may take them before they are locked. */
const MOST_CHOICES = 5;

interface Funded {
  readonly psbt: string;
  readonly locks: SignedSend['locks'];
}

/**
 * Chooses coins for a send and locks them, under an id that follows from the payment's (docs/decisions.md 152). Where
 * it throws, no coin stays locked; what a lost answer may have locked is released now, or as soon as it is seen.
 */
export async function fund(
  { rest, owner, wallet }: LndHandle,
  command: PayOnchainCommand,
): Promise<Funded> {
  const { coinLocks } = wallet;
  const id = coinLocks.idOf(command);
  // An earlier request with this client_payment_id may have been cut off; nothing of it was signed.
  if (coinLocks.mayBeLost) await releaseOf({ owner, wallet }, id);
  const request = await requestFor(owner, command);
  const ask = async (more: Readonly<Record<string, unknown>>): Promise<Funded> => {
    const { funded_psbt, locked_utxos } = await rest.post(
      '/v2/wallet/psbt/fund',
      { ...request, ...more },
      fundedPsbtShape,
      { timeoutMs: SEND_TIMEOUT_MS, certainty: refusesToFund },
    );
    return { psbt: funded_psbt, locks: locked_utxos.map(lockOf) };
  };
  try {
    return await ask({
      custom_lock_id: base64.encode(hex.decode(id)),
      lock_expiration_seconds: `${LOCK_SECS}`,
    });
  } catch (error) {
    if (!/unknown field .*custom_lock_id/.test(refusalText(error))) {
      if (mayHaveLocked(error)) {
        coinLocks.lost();
        await releaseOf({ owner, wallet }, id);
      }
      throw await withLocks(owner, error);
    }
  }
  // Between LND's own lock and ours a coin is free: our sends must not take each other's.
  return wallet.locks.run('fund', () => fundOnOldLnd({ owner, wallet }, id, () => ask({})));
}

/** For LND before 0.19, which knows no ids of callers in this request. */
async function fundOnOldLnd(
  { owner, wallet }: LndOwned,
  id: string,
  ask: () => Promise<Funded>,
): Promise<Funded> {
  for (let choice = 0; choice < MOST_CHOICES; choice++) {
    const { psbt, locks } = await ask().catch(async (error: unknown) => {
      if (!mayHaveLocked(error)) throw await withLocks(owner, error);
      wallet.coinLocks.lostUnderLndId();
      throw await lostUnderLndId(owner, error);
    });
    const ours = await relock({ owner, wallet }, locks, id);
    if (ours !== null) return { psbt, locks: ours };
  }
  throw refused('Other programs took the coins before they could be locked: try again.');
}

async function requestFor(owner: LndRest, { address, amountMsat, priority }: PayOnchainCommand) {
  // LND cannot spend unconfirmed change of its own without unconfirmed coins of others. So unconfirmed coins are spent
  // only while none of them came from others.
  const spend_unconfirmed = (await untrustedSat(owner)) === 0n;
  return {
    raw: { outputs: { [address.canonical]: `${wholeSats(amountMsat)}` } },
    sat_per_vbyte: `${await sendSatPerVbyte(owner, priority)}`,
    spend_unconfirmed,
    min_confs: spend_unconfirmed ? 0 : 1,
  };
}

/** Releases every coin that is locked under the id. Where that fails, it is done later. */
async function releaseOf({ owner, wallet }: LndOwned, id: string): Promise<void> {
  try {
    const leases = await readLeases(owner);
    await giveBack(
      { owner, wallet },
      leases.filter((one) => one.id === id),
    );
  } catch (error) {
    if (!isApiError(error)) throw error;
  }
}

function mayHaveLocked(error: unknown): error is ApiError {
  return error instanceof ApiError && error.outcomeUnknown;
}

/** Other programs' locks have LND's id too, so nothing is released by guess (docs/decisions.md 152). */
async function lostUnderLndId(owner: LndRest, error: ApiError): Promise<ApiError> {
  const locked = (await lockedCoins(owner).catch(() => [])).filter(({ id }) => id === LND_LOCK_ID);
  if (locked.length === 0) return error;
  return new ApiError(error.kind, `${error.message} ${lockedText(locked)}`, { cause: error.cause });
}
