import { randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { isFinal, type Payment } from '../../../src/model/payment.ts';
import { type PaymentId, paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type {
  CreateInvoiceCommand,
  Observation,
  PayInvoiceCommand,
  SendQuestion,
  SendReport,
  UpdateBatch,
  UpdatesOptions,
  WalletNode,
} from '../../../src/nodes/node.ts';
import { until } from '../../support/until.ts';
import { updatesOptions } from '../../support/updates-options.ts';

/** Hex of so many random bytes. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Id of the Lightning payments of that hash. */
export const lightningId = (hash: string): PaymentId => paymentId('ln', hash);

/** An order for an invoice over 1000 sats, unless `change` says otherwise. */
export function invoiceCommand(
  node: Pick<WalletNode, 'clock'>,
  change: Partial<CreateInvoiceCommand> = {},
): CreateInvoiceCommand {
  return {
    createdAtMs: node.clock.now(),
    expirationSecs: 3600,
    amountMsat: 1_000_000n,
    description: 'tea',
    descriptionHash: null,
    personalNote: null,
    externalId: null,
    message: null,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
    preimage: null,
    ...change,
  };
}

/** An order to pay an invoice in full, for a fee of 100 sats at most, unless `change` says otherwise. */
export function payCommand(
  node: Pick<WalletNode, 'clock'>,
  invoice: string,
  change: Partial<PayInvoiceCommand> = {},
): PayInvoiceCommand {
  const decoded = decodeBolt11(invoice);
  const { paymentHash, amountMsat } = decoded;
  const createdAtMs = change.createdAtMs ?? node.clock.now();
  return {
    index: paymentIndex(createdAtMs, lightningId(paymentHash)),
    createdAtMs,
    amountMsat: amountMsat ?? 1_000_000n,
    personalNote: null,
    externalId: null,
    invoice: decoded,
    maxFeeMsat: 100_000n,
    message: null,
    ...change,
  };
}

/** What a report knows; throws what it was refused or lost with. */
export function known(report: SendReport): Observation {
  if (report.state === 'taken') throw new Error('Another attempt was in the way.');
  if (report.state !== 'known') throw report.error;
  return report;
}

/** The attempt that a report tells of, its own or another; throws what it was refused or lost with. */
export function there(report: SendReport): Observation {
  return report.state === 'taken' ? report : known(report);
}

/** The newest payment of that hash, as soon as it is final. */
export function ended(node: WalletNode, hash: string): Promise<Observation> {
  return until(async () => {
    const found = await node.latestPayment(lightningId(hash));
    return found !== null && isFinal(found.payment) && found;
  }, 'the payment was final');
}

/** What the node is asked about a send that the wallet began. */
export function questionOf(
  payment: Payment,
  change: Partial<Omit<SendQuestion, 'payment'>> = {},
): SendQuestion {
  return { payment, afterAttempt: null, attempt: null, signed: null, fetched: null, ...change };
}

/** The updates of a wallet, read until {@link Following.end}. */
export interface Following {
  readonly observations: Observation[];
  readonly batches: UpdateBatch[];
  /** The newest cursor; null before there was one. */
  cursor(): string | null;
  isCaughtUp(): boolean;
  /** Resolves once the feed showed a payment of that hash in that state. */
  shows(hash: string, status: Payment['status']): Promise<Observation>;
  /** Why the feed ended by itself; pending while it goes on, null when its end was asked for. */
  readonly over: Promise<unknown>;
  /** Asks the feed to end and waits until it has. */
  end(): Promise<void>;
}

/** Follows a wallet from a cursor on. */
export function follow(
  node: WalletNode,
  after: string | null = null,
  open: readonly Payment[] = [],
  change: Partial<UpdatesOptions> = {},
): Following {
  const stop = new AbortController();
  const batches: UpdateBatch[] = [];
  const observations: Observation[] = [];
  const over = (async () => {
    const options = updatesOptions({
      after,
      open: async () => open,
      signal: stop.signal,
      ...change,
    });
    for await (const batch of node.updates(options)) {
      batches.push(batch);
      observations.push(...batch.observations);
    }
    return null;
  })().catch((error: unknown) => error);
  return {
    observations,
    batches,
    over,
    cursor: () => batches.findLast(({ cursor }) => cursor !== null)?.cursor ?? null,
    isCaughtUp: () => batches.some(({ caughtUp }) => caughtUp),
    shows: (hash, status) =>
      until(
        () =>
          observations.find(({ payment }) => payment.hash === hash && payment.status === status),
        `the feed showed the payment ${status}`,
      ),
    async end() {
      stop.abort();
      const error = await over;
      if (error !== null) throw error;
    },
  };
}
