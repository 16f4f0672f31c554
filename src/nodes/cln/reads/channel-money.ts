import { hex } from '@scure/base';
import { RawTx } from '@scure/btc-signer';
import { type ClnTransaction, closedChannelsShape } from '../words/chain-wire.ts';
import { type Chain, spentBy } from './chain.ts';
import { readChannels } from './channels.ts';
import type { ClnRpc } from './rpc.ts';

/** Transactions that move money between the wallet and its channels, which are no payments. */
export interface ChannelMoney {
  readonly opening: ReadonlySet<string>;
  /** Transactions that close one, and those that collect what it paid out. */
  readonly closing: ReadonlySet<string>;
}

/** Finds the transactions of all channels that the node has or had. */
export async function readChannelMoney(owner: ClnRpc, chain: Chain): Promise<ChannelMoney> {
  const [channels, { closedchannels }] = await Promise.all([
    readChannels(owner),
    owner.list('listclosedchannels', {}, closedChannelsShape),
  ]);
  const fundings = new Set<string>();
  const opening = new Set<string>();
  for (const { funding_txid, funding_outnum } of [...channels, ...closedchannels]) {
    if (funding_txid === undefined || funding_outnum === undefined) continue;
    opening.add(funding_txid);
    fundings.add(`${funding_txid}:${funding_outnum}`);
  }
  return { opening, closing: closingTransactions(chain, fundings) };
}

/**
 * The witness with which a peer spends what a commitment transaction paid it at once (BOLT 3, to_remote): a script with
 * anchors, or a key without. Such an output is a coin of the peer like others, with which it can pay this wallet.
 */
const AT_ONCE = /^(?:21(?:02|03)[0-9a-f]{64}ad51b2|(?:02|03)[0-9a-f]{64})$/;

/**
 * The transactions that spend a funding output, and those that collect the outputs of a commitment transaction, also
 * through HTLC transactions; pure. A channel that is closed together with the peer pays at once, so the outputs
 * of such a transaction are coins like others.
 */
function closingTransactions(
  { transactions, coins }: Chain,
  fundings: ReadonlySet<string>,
): ReadonlySet<string> {
  const closing = new Set<string>();
  const commitments = new Set<string>();
  const all = [...transactions.values()];
  for (const one of all) {
    if (!spentBy(one).some((outpoint) => fundings.has(outpoint))) continue;
    closing.add(one.hash);
    if (isCommitment(one)) commitments.add(one.hash);
  }
  for (let before = -1; before < commitments.size; ) {
    before = commitments.size;
    for (const one of all) {
      const collects = one.inputs.some(
        ({ txid, index }, at) =>
          commitments.has(txid) &&
          !coins.has(`${txid}:${index}`) &&
          !AT_ONCE.test(lastOfWitness(one, at)),
      );
      if (!collects) continue;
      closing.add(one.hash);
      commitments.add(one.hash);
    }
  }
  return closing;
}

/** The last item of an input's witness, in hex: the script, or the key where there is none. */
function lastOfWitness({ rawtx }: ClnTransaction, at: number): string {
  return hex.encode(RawTx.decode(hex.decode(rawtx)).witnesses?.[at]?.at(-1) ?? new Uint8Array());
}

/** BOLT 3: the lock time of a commitment transaction begins with 0x20, and the sequence of its input with 0x80. */
function isCommitment({ locktime, inputs }: ClnTransaction): boolean {
  return locktime >>> 24 === 0x20 && inputs.every(({ sequence }) => sequence >>> 24 === 0x80);
}
