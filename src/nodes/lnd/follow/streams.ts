import { z } from 'zod';
import { isApiError } from '../../../model/errors.ts';
import type { FollowCursor } from '../words/cursor.ts';
import type { LndInbox } from '../words/inbox.ts';
import { isMissingAtLnd } from '../words/refusal.ts';
import { invoiceObservations, outboundObservation } from '../words/translate.ts';
import { blockShape, invoiceShape, paymentShape, toldTransactionShape } from '../words/wire.ts';
import type { Look } from './look.ts';

/** LND sends its newest block at once after subscribing. */
const BLOCK_WITHIN_MS = 30_000;
/** The longest silence of the stream of blocks. No block takes as long, and opening the feed again loses nothing. */
const BLOCK_SILENCE_MS = 6 * 3_600_000;

const itemShape = z.looseObject({});

/** What following a stream needs. */
export interface Following extends Pick<Look, 'rest' | 'wallet' | 'log' | 'listLag'> {
  readonly start: FollowCursor;
  readonly inbox: LndInbox;
  readonly signal: AbortSignal;
}

/** Puts what LND's streams tell into the inbox until `signal` aborts. A stream that ends before fails the inbox. */
export function followStreams(following: Following, onEnd: (error: unknown) => void): void {
  const { inbox } = following;
  for (const follow of [followInvoices, followPayments, followTransactions, followBlocks]) {
    follow(following).then(
      () => onEnd(null),
      (error: unknown) => {
        if (!isMissingAtLnd(error) && !isApiError(error, 'forbidden')) onEnd(error);
        // This LND was built without that stream, or the macaroon may not follow it. The reads of the lists cover it
        // as far as they may.
        else if (follow === followInvoices) inbox.isDeafToInvoices = true;
      },
    );
  }
}

async function followInvoices({
  rest,
  wallet,
  log,
  start,
  inbox,
  signal,
}: Following): Promise<void> {
  // Asks for at least one earlier invoice, whose arrival shows that LND listens.
  const query = `add_index=${Math.max(start.addIndex - 1, 0)}&settle_index=${start.settleIndex}`;
  const path = `/v1/invoices/subscribe?${query}`;
  // Most new invoices were made by the sidecar and are stored already; the next read of the list finds the others.
  const isSettled = (line: string) => {
    const isNew = line.includes('"state":"OPEN"');
    if (isNew) inbox.requestLookSoon();
    return !isNew;
  };
  const settled = rest.stream('GET', path, undefined, itemShape, signal, { isWanted: isSettled });
  for await (const item of settled) {
    wallet.oddRows.read([item], {
      shape: invoiceShape,
      log,
      use: (invoice) => {
        const reached = { settleIndex: invoice.settle_index };
        inbox.add(invoiceObservations(invoice, wallet.clock.now()), reached);
      },
    });
  }
}

async function followPayments({ rest, wallet, log, inbox, signal }: Following): Promise<void> {
  const path = '/v2/router/payments';
  for await (const item of rest.stream('GET', path, undefined, itemShape, signal)) {
    wallet.oddRows.read([item], {
      shape: paymentShape,
      log,
      use: (payment) => inbox.add([outboundObservation(payment, wallet.clock.now())]),
    });
  }
}

/** LND may report a transaction before it puts its label on it, so the transaction is read from the list. */
async function followTransactions(following: Following): Promise<void> {
  const { rest, wallet, log, listLag, inbox, signal } = following;
  const path = '/v1/transactions/subscribe';
  for await (const item of rest.stream('GET', path, undefined, itemShape, signal)) {
    wallet.oddRows.read([item], {
      shape: toldTransactionShape,
      log,
      use: (told) => listLag.toldTransaction(told),
    });
    inbox.requestLook();
  }
}

/** Each block adds a confirmation, but the stream of transactions reports only the first one. */
async function followBlocks({ rest, listLag, inbox, signal }: Following): Promise<void> {
  const path = '/v2/chainnotifier/register/blocks';
  const blocks = rest.stream('POST', path, {}, blockShape, signal, {
    headWithinMs: BLOCK_WITHIN_MS,
    silenceMs: BLOCK_SILENCE_MS,
  });
  for await (const _ of blocks) {
    listLag.toldBlock();
    inbox.requestLook();
  }
}
