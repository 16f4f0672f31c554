import { useLayoutEffect, useState } from 'preact/hooks';
import type { Payment } from '../../../client/index.ts';
import { useSignedIn } from '../../api/signed-in.tsx';
import { PaymentList } from '../../parts/payment-list.tsx';
import { text } from '../../texts/index.ts';

/** The payments that have arrived since this was shown, as they happen. */
export function Arrivals() {
  const { live } = useSignedIn();
  const [arrived, setArrived] = useState<readonly Payment[]>([]);
  // Who sees what is to be paid may pay it at once: a later effect would miss that.
  useLayoutEffect(
    () =>
      live.onChange((change) => {
        if (change === null || change.direction !== 'inbound' || isWaiting(change)) return;
        setArrived((before) => [change, ...before.filter(({ index }) => index !== change.index)]);
      }),
    [live],
  );
  return (
    <div role="status">
      {arrived.length === 0 ? (
        <p class="waiting">{text.receive.waiting}</p>
      ) : (
        <>
          <h3>{text.receive.arrived}</h3>
          <PaymentList payments={arrived} />
        </>
      )}
    </div>
  );
}

/** Whether it is an invoice that nobody has paid. On chain a pending payment is on its way. */
function isWaiting({ status, rail }: Payment): boolean {
  return status === 'failed' || (status === 'pending' && rail !== 'onchain');
}
