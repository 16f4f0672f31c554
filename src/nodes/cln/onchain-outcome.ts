import type { SendOutcome, SendQuestion } from '../node-sends.ts';
import { publishedSend } from '../remote/onchain-send.ts';
import { spentOutpoints } from '../remote/psbt.ts';
import { readChain } from './chain.ts';
import type { ClnRpc } from './rpc.ts';
import { seenSend } from './send-seen.ts';
import type { ClnWallet } from './wallet.ts';

/** Finds out what became of an on-chain send; see `WalletNode.sendOutcome`. */
export async function onchainOutcome(
  owner: ClnRpc,
  wallet: ClnWallet,
  { payment, signed }: SendQuestion,
): Promise<SendOutcome> {
  if (signed === null) return { state: 'unknown' };
  const { txid, txHex } = signed;
  const chain = await readChain(owner);
  const published = publishedSend(payment, signed).payment;
  const outpoints = spentOutpoints(txHex);
  const seen = await seenSend(owner, wallet, chain, { payment: published, txid, outpoints });
  switch (seen.state) {
    case 'seen': {
      const { state: _, ...observation } = seen;
      return { state: 'known', ...observation };
    }
    case 'replaced':
      return { state: 'never', reason: 'replaced' };
    case 'unseen':
      return { state: 'unknown' };
  }
}
