import { ApiError } from '../../src/model/errors.ts';
import type { Answer, Body } from '../support/requests.ts';
import { waitUntil } from '../support/until.ts';
import { caughtUp } from './harness/channels.ts';
import type { RealNetwork } from './kinds.ts';
import type { HoldInvoice } from './outsider.ts';

/** What stands for the sandbox's controls, by path. */
export type Controls = Readonly<Record<string, (body: Body) => Promise<unknown>>>;

/** The sandbox's controls, carried out with real nodes and btcd: bob acts as the outside world of alice. */
export function outsideControls({ btcd, alice, bob }: RealNetwork): Controls {
  const held = new Map<string, HoldInvoice>();
  return {
    async '/sandbox/blocks'({ count }) {
      await btcd.generate(count);
      await caughtUp(btcd, [alice.steps, bob.steps]);
      return { height: await btcd.height() };
    },
    async '/sandbox/invoice'({ amount, behavior, description = '', expiration_secs = 3600 }) {
      if (behavior === 'hold') {
        const hold = await bob.holds(inMsat(amount));
        held.set(hold.hash, hold);
        return { invoice: hold.invoice, payment_hash: hold.hash };
      }
      const { invoice, hash } = await bob.invoice({
        amountMsat: amount === undefined ? null : inMsat(amount),
        description,
        expirySecs: expiration_secs,
      });
      if (behavior === 'fail') await bob.cancel(hash);
      return { invoice, payment_hash: hash };
    },
    async '/sandbox/holds'({ payment_hash, settle }) {
      const hold = held.get(payment_hash);
      if (hold === undefined) throw new ApiError('notFound', 'No such held payment');
      held.delete(payment_hash);
      await hold.accepted();
      await (settle ? hold.settle() : hold.cancel());
      await waitUntil('the payer knows', async () =>
        (await alice.attempts(payment_hash)).every((state) => state !== 'pending'),
      );
      return {};
    },
    async '/sandbox/pay'({ payable, amount, message = '' }) {
      if (payable.startsWith('bcrt1')) {
        await btcd.send([{ address: payable, amountSat: BigInt(amount ?? 0) }]);
        return { status: 'pending' };
      }
      const amountMsat = amount === undefined ? undefined : inMsat(amount);
      const paid =
        payable === alice.pubkey
          ? bob.keysends(payable, amountMsat ?? '1000', message)
          : bob.pays(withoutFrame(payable), amountMsat);
      return { status: (await paid) ? 'completed' : 'failed' };
    },
    '/sandbox/offer': async ({ description = '' }) => bob.offer?.(description),
  };
}

/** The invoice in a link or a URI, or an offer whose pieces are joined. */
export function withoutFrame(payable: string): string {
  return /lnbcrt[0-9a-z]+/i.exec(payable)?.[0] ?? payable.replace(/\+\s*/g, '');
}

function inMsat(amountSat: string): string {
  return `${Math.round(Number(amountSat) * 1000)}`;
}

/** What a control answers: its body, or the error that it throws. */
export async function answered(act: () => Promise<unknown>): Promise<Answer> {
  const headers = new Headers();
  try {
    return { status: 200, headers, body: (await act()) as Body };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.httpStatus, headers, body: error.body() };
  }
}
