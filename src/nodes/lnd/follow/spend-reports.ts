import type { LndInbox } from '../words/inbox.ts';
import { replacedPayment, type Spender } from '../words/replaced.ts';
import type { Look } from './look.ts';

/**
 * Returns what a watch of coins calls with each report. A spender is passed on at once as the replacement of the
 * receipts whose coin it spends, however long a look is running. Its further confirmations, and what a report that was
 * taken back means, are for the look that follows.
 */
export function spendReports({
  wallet,
  open,
  inbox,
}: Pick<Look, 'wallet' | 'open'> & { readonly inbox: LndInbox }): (
  spender: Spender | null,
) => void {
  const tell = async (spender: Spender): Promise<void> => {
    const receipts = (await open('onchain')).filter(
      ({ rail, direction }) => rail === 'onchain' && direction === 'inbound',
    );
    const nowMs = wallet.clock.now();
    inbox.add(receipts.flatMap((one) => replacedPayment(one, [spender], nowMs) ?? []));
  };
  return (spender) => {
    inbox.requestLook();
    if (spender) tell(spender).catch((error: unknown) => inbox.fail(error));
  };
}
