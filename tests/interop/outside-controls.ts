import { ApiError } from '../../src/model/errors.ts';
import type { Body } from '../support/requests.ts';
import { waitUntil } from '../support/until.ts';
import type { Btcd } from './harness/btcd.ts';
import type { HoldInvoice, OutsideInvoice } from './outsider.ts';

/** What stands for the sandbox's controls, by path. */
export type Controls = Readonly<Record<string, (body: Body) => Promise<unknown>>>;

/** The other side of the network as it acts in the conformance tests, on any kind of node. */
export interface OutsideWorld {
  readonly btcd: Btcd;
  /** The default wallet's node. */
  readonly alicePubkey: string;
  /** Resolves when all nodes have read the newest block. */
  caughtUp(): Promise<void>;
  invoice(terms: InvoiceTerms): Promise<OutsideInvoice>;
  /** Cancels an unpaid invoice, so that a payment to it is refused. */
  cancel(hash: string): Promise<unknown>;
  holds(amountMsat: string): Promise<HoldInvoice>;
  /** Pays a string and returns whether that succeeded. */
  pays(payable: string, amountMsat?: string): Promise<boolean>;
  /** Sends to the default wallet without an invoice and returns whether that succeeded. */
  keysends(amountMsat: string, message: string): Promise<boolean>;
  /** Whether the default wallet's node knows the end of its payment. */
  hasEnded(hash: string): Promise<boolean>;
}

/** The terms of an invoice of the outside world. */
export interface InvoiceTerms {
  /** Null leaves the amount to the payer. */
  readonly amountMsat: string | null;
  readonly description: string;
  readonly expirySecs: number;
}

/** The sandbox's controls, carried out with real nodes and btcd. */
export function outsideControls(outside: OutsideWorld): Controls {
  const { btcd } = outside;
  const held = new Map<string, HoldInvoice>();
  return {
    async '/sandbox/blocks'({ count }) {
      await btcd.generate(count);
      await outside.caughtUp();
      return { height: await btcd.height() };
    },
    async '/sandbox/invoice'({ amount, behavior, description = '', expiration_secs = 3600 }) {
      if (behavior === 'hold') {
        const hold = await outside.holds(inMsat(amount));
        held.set(hold.hash, hold);
        return { invoice: hold.invoice, payment_hash: hold.hash };
      }
      const { invoice, hash } = await outside.invoice({
        amountMsat: amount === undefined ? null : inMsat(amount),
        description,
        expirySecs: expiration_secs,
      });
      if (behavior === 'fail') await outside.cancel(hash);
      return { invoice, payment_hash: hash };
    },
    async '/sandbox/holds'({ payment_hash, settle }) {
      const hold = held.get(payment_hash);
      if (hold === undefined) throw new ApiError('notFound', 'No such held payment');
      held.delete(payment_hash);
      await hold.accepted();
      await (settle ? hold.settle() : hold.cancel());
      await waitUntil('the payer knows', () => outside.hasEnded(payment_hash));
      return {};
    },
    async '/sandbox/pay'({ payable, amount, message = '' }) {
      if (payable.startsWith('bcrt1')) {
        await btcd.send([{ address: payable, amountSat: BigInt(amount ?? 0) }]);
        return { status: 'pending' };
      }
      const amountMsat = amount === undefined ? undefined : inMsat(amount);
      const paid =
        payable === outside.alicePubkey
          ? outside.keysends(amountMsat ?? '1000', message)
          : outside.pays(withoutFrame(payable), amountMsat);
      return { status: (await paid) ? 'completed' : 'failed' };
    },
  };
}

/** The invoice in a link or a URI, or an offer whose pieces are joined. */
function withoutFrame(payable: string): string {
  return /lnbcrt[0-9a-z]+/i.exec(payable)?.[0] ?? payable.replace(/\+\s*/g, '');
}

function inMsat(amountSat: string): string {
  return `${Math.round(Number(amountSat) * 1000)}`;
}
