import { sendWords } from '../../model/payment.ts';
import type { SendReport, WalletNode } from '../../nodes/node.ts';
import type { Spend } from './spend.ts';

type Request = () => Promise<SendReport>;

/**
 * Returns what asks the node again for exactly what the spend was asked for, which the node makes at most once: the
 * same transaction, the same payment hash. Null where the node does not promise that, or the row does not have the
 * terms (docs/decisions.md 114, 143).
 */
export function repeatOf(node: WalletNode, spend: Spend): Request | null {
  const isSafe = spend.rail === 'onchain' || spend.rail === 'spontaneous' || node.repeatsSafely;
  return isSafe ? requestOf(node, spend, true) : null;
}

/** Returns what asks the node for exactly what the row says. Null where that does not have the terms. */
export function requestOf(node: WalletNode, spend: Spend, isRepeat: boolean): Request | null {
  const { index, createdAtMs, message } = spend.payment;
  const identity = { index, createdAtMs, ...sendWords(spend.payment) };
  const same = { ...identity, message, isRepeat };
  switch (spend.rail) {
    case 'onchain': {
      const { onchain } = node;
      const { signed, order } = spend;
      const command = { ...identity, ...order, maxFeeMsat: null };
      return onchain
        ? async () => {
            if (isRepeat) await onchain.renew(signed);
            return onchain.publish(command, signed);
          }
        : null;
    }
    case 'spontaneous': {
      const { spontaneous } = node;
      return spontaneous ? () => spontaneous.pay({ ...same, ...spend.order }) : null;
    }
    case 'offer': {
      const { offers } = node;
      const { fetched: invoice, feeCap, order } = spend;
      if (offers?.kind === 'whole') return order && (() => offers.payOffer({ ...same, ...order }));
      return offers && invoice && feeCap
        ? () => offers.payFetched({ ...same, ...feeCap, invoice })
        : null;
    }
    case 'invoice': {
      const { order } = spend;
      return order ? () => node.payInvoice({ ...same, ...order }) : null;
    }
  }
}
