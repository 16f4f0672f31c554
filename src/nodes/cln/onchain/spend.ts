import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { ApiError } from '../../../model/errors.ts';
import type { SignedSend } from '../../node-sends.ts';
import {
  type FundedTransaction,
  isSameTransaction,
  readPsbt,
  txidOf,
} from '../../remote/orders/psbt.ts';
import { outpointOf } from '../reads/coins.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { signedPsbtShape } from '../words/chain-wire.ts';
import type { ClnOutput } from '../words/wire.ts';
import { finalizedTransaction } from './psbt.ts';
import { releaseReservations } from './reservations.ts';

/** Time limit of preparing and signing, which take longer than other calls. */
export const SIGN_TIMEOUT_MS = 60_000;

interface Spend {
  readonly coins: readonly ClnOutput[];
  /** Has the node make a PSBT of exactly these coins and reserve them. */
  readonly prepare: () => Promise<{ readonly psbt: string }>;
  /** Called with what the node made, before anything is signed; throws where it is not to be signed. */
  readonly check: (prepared: FundedTransaction) => void;
}

/**
 * Has the node prepare a transaction, checks it, and has it signed; publishes nothing. The coins stay reserved. When
 * anything fails, the reservation is released, and ends by itself where that fails too.
 */
export async function signedSpend(
  rpc: ClnRpc,
  owner: ClnRpc,
  { coins, prepare, check }: Spend,
): Promise<SignedSend> {
  const outpoints = coins.map(outpointOf);
  let isReserved = false;
  try {
    const { psbt } = await prepare().catch((error: unknown) => {
      isReserved = error instanceof ApiError && error.outcomeUnknown;
      throw error;
    });
    isReserved = true;
    const prepared = read(psbt, readPsbt);
    if (prepared.inputs.toSorted().join() !== outpoints.toSorted().join()) {
      throw wrongTransaction();
    }
    check(prepared);
    const { signed_psbt } = await rpc.write('signpsbt', { psbt }, signedPsbtShape, {
      timeoutMs: SIGN_TIMEOUT_MS,
    });
    const txHex = read(signed_psbt, finalizedTransaction);
    if (!isSameTransaction(prepared, txHex)) throw wrongTransaction();
    const txid = txidOf(txHex);
    return {
      txid,
      txHex,
      feeMsat: `${prepared.feeSat * MSAT_PER_SAT}`,
      locks: outpoints.map((outpoint) => ({ id: txid, outpoint })),
    };
  } catch (error) {
    if (isReserved) await releaseReservations(owner, outpoints).catch(() => undefined);
    throw error;
  }
}

/** The error for a transaction that the node made, and that is not the one asked for. */
export function wrongTransaction(): ApiError {
  return new ApiError(
    'unreadable',
    'Core Lightning made another transaction than the one asked for. Nothing was sent: check the node.',
  );
}

function read<T>(psbt: string, reader: (psbt: string) => T): T {
  try {
    return reader(psbt);
  } catch (cause) {
    throw new ApiError(
      'unreadable',
      'Core Lightning made a transaction that cannot be read or is not complete. Nothing was sent: check the version of Core Lightning.',
      { cause },
    );
  }
}
