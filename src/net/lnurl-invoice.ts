import { z } from 'zod';
import { type Bolt11Invoice, decodeBolt11 } from '../codecs/bolt11/index.ts';
import { readOr } from '../codecs/codec-error.ts';
import { metadataHash } from '../codecs/lnurl-answers.ts';
import { once } from '../lib/once.ts';
import { readReply } from './lnurl-reply.ts';
import type { LnurlPayRequest } from './lnurl-terms.ts';
import { serviceFailed } from './service-error.ts';

const invoiceReply = once(() =>
  z.object({ pr: z.string(), successAction: z.unknown().optional() }),
);

const successAction = once(() =>
  z.discriminatedUnion('tag', [
    z.object({ tag: z.literal('message'), message: z.string().max(144) }),
    z.object({ tag: z.literal('url'), description: z.string().max(144), url: z.url() }),
    z.object({
      tag: z.literal('aes'),
      description: z.string().max(144),
      ciphertext: z.string(),
      iv: z.string(),
    }),
  ]),
);

/**
 * Returns the invoice in a service's reply after checking it: its amount and description hash must match the request
 * (LUD-06), and its `successAction` must be known and valid (LUD-09). Otherwise throws error 113, and nothing is paid
 * (docs/decisions.md 74).
 */
export function readInvoiceReply(
  reply: unknown,
  request: LnurlPayRequest,
  amountMsat: bigint,
): Bolt11Invoice {
  const { pr, successAction: action } = readReply(invoiceReply(), reply);
  checkSuccessAction(action, request.callback);
  const invoice = readInvoice(pr);
  checkInvoice(invoice, amountMsat, request.metadata);
  return invoice;
}

/** LUD-09: with an unknown action nothing may be paid, and a link must be on the callback's domain. */
function checkSuccessAction(action: unknown, callback: string): void {
  if (action === undefined || action === null) return;
  const parsed = successAction().safeParse(action);
  if (!parsed.success) {
    throw notPaid('The service announces an action after payment that this wallet does not know');
  }
  if (
    parsed.data.tag === 'url' &&
    new URL(parsed.data.url).hostname !== new URL(callback).hostname
  ) {
    throw notPaid('The service would lead to another domain after payment');
  }
}

/** LUD-06: the invoice must have the requested amount and the hash of the metadata. */
function checkInvoice(invoice: Bolt11Invoice, amountMsat: bigint, metadata: string): void {
  if (invoice.amountMsat !== amountMsat) {
    throw notPaid('The service answered with an invoice of another amount');
  }
  if (invoice.descriptionHash !== metadataHash(metadata)) {
    throw notPaid('The invoice does not commit to the terms of the service');
  }
}

function readInvoice(text: string): Bolt11Invoice {
  return readOr(
    () => decodeBolt11(text),
    (error) => {
      throw notPaid('The LNURL service answered with an unreadable invoice', error);
    },
  );
}

function notPaid(rule: string, cause?: unknown) {
  return serviceFailed('unusable_answer', `${rule}, so it was not paid.`, cause);
}
