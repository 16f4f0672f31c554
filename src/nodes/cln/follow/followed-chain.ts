import { CHAIN_WAIT, onchainLook } from '../onchain/onchain-history.ts';
import { positionAt, positionIn } from '../words/cursor.ts';
import type { FollowedList } from './look.ts';

const { subsystem: NAME, indexname: ORDER } = CHAIN_WAIT;

/** The on-chain payments of a wallet. */
export const CHAIN: FollowedList = {
  name: NAME,
  orders: { [ORDER]: 'now' },
  async *read({ rpc, wallet, open, cursor, told, isFull }) {
    const after = positionIn(cursor, NAME, ORDER);
    const isUnchanged = !isFull && told.newest(cursor, NAME, ORDER) === after;
    if (isUnchanged && (await open('onchain')).length === 0) return;
    const { observations, reached } = await onchainLook({ owner: rpc, wallet }, { open, after });
    yield { observations, reached: positionAt(NAME, ORDER, reached) };
  },
};
