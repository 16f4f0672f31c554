import { afterEach } from 'bun:test';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import type { Payment } from '../../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type {
  CreateInvoiceCommand,
  PayInvoiceCommand,
  WalletNode,
} from '../../../../src/nodes/node.ts';
import { invoiceCommand as orderedInvoice } from '../../../contracts/node/steps.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';
import { until } from '../../../support/until.ts';

/**
 * Returns a function that makes a wallet on a sandbox whose clock the test sets. All close after each test of the file.
 */
export function lightningWorlds() {
  const cleanups: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  return async () => {
    const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
    const sandbox = openTrialSandbox(':memory:', clock);
    cleanups.push(() => sandbox.connector.close());
    const wallet = async () => {
      const { rootSeed, userPk } = await sandbox.controls.createWallet();
      const { node } = await sandbox.connector.connectRoot(Buffer.from(rootSeed, 'hex'));
      return { node, userPk };
    };
    const outsideInvoice = async (behavior: 'settle' | 'fail' | 'hold', amountMsat = 5_000_000n) =>
      (
        await sandbox.controls.createInvoice({
          amountMsat,
          description: null,
          expirationSecs: 600,
          behavior,
        })
      ).invoice;
    const payCommand = (text: string, amountMsat = 5_000_000n): PayInvoiceCommand => {
      const createdAtMs = ++clock.nowMs;
      const invoice = decodeBolt11(text);
      return {
        index: paymentIndex(createdAtMs, paymentId('ln', invoice.paymentHash)),
        createdAtMs,
        amountMsat,
        maxFeeMsat: 100_000n,
        invoice,
        personalNote: null,
        externalId: null,
        message: null,
      };
    };
    return { clock, sandbox, wallet, outsideInvoice, payCommand, ...(await wallet()) };
  };
}

/** Waits until the payment has left its first state, since the receiver decides in a transaction of its own. */
export async function ended(node: WalletNode, index: Payment['index']): Promise<Payment> {
  return until(async () => {
    const seen = await node.payment(index);
    return seen !== null && seen.payment.status !== 'pending' && seen.payment;
  }, 'the payment has ended');
}

export function invoiceCommand(change: Partial<CreateInvoiceCommand> = {}): CreateInvoiceCommand {
  const terms = { expirationSecs: 600, amountMsat: 1000n, description: null };
  return orderedInvoice({ clock: { now: () => 1_800_000_000_000 } }, { ...terms, ...change });
}
