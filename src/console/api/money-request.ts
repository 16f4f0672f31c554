import type { Payment } from '../../client/index.ts';
import type { KeptPayment } from '../values/kept-payment.ts';
import type { Sidecar } from './sidecar.ts';

/**
 * Sends a request that moves money under its key, or repeats it, which does it no second time. Returns the payment at
 * once, pending unless it is over. A withdrawal is awaited.
 */
export function sendMoney({ api }: Sidecar, kept: KeptPayment): Promise<Payment> {
  const options = { idempotencyKey: kept.key, respondAfterSecs: 0 };
  switch (kept.call) {
    case 'pay':
      return api.pay(kept.request, options);
    case 'payOnchain':
      return api.payOnchain(kept.request, options);
    case 'withdrawLnurl':
      return api.withdrawLnurl(kept.request, { idempotencyKey: kept.key });
  }
}
