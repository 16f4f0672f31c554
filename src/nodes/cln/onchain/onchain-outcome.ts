import type { SendOutcome, SendQuestion } from '../../node-sends.ts';
import { publishedSend } from '../../remote/orders/onchain-send.ts';
import { readChain } from '../reads/chain.ts';
import type { ClnOwned } from '../reads/wallet.ts';
import { seenSend } from './send-seen.ts';

/** Finds out what became of an on-chain send; see `WalletNode.sendOutcome`. */
export async function onchainOutcome(
  { owner, wallet }: ClnOwned,
  { payment, signed }: SendQuestion,
): Promise<SendOutcome> {
  if (signed === null) return { state: 'unknown' };
  const published = publishedSend(payment, signed).payment;
  const seen = await seenSend(owner, wallet, await readChain(owner), published);
  switch (seen.state) {
    case 'seen':
      return { state: 'known', ...seen.observation };
    case 'replaced':
      return { state: 'never', reason: 'replaced' };
    case 'unseen':
      return { state: 'unknown' };
  }
}
