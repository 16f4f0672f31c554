import { z } from 'zod';
import type { Bolt11Invoice } from '../codecs/bolt11/index.ts';
import type { FetchJson } from './guarded-fetch.ts';
import { readInvoiceReply } from './lnurl-invoice.ts';
import { readReply, throwRefusal } from './lnurl-reply.ts';
import { type LnurlPayRequest, type LnurlWithdrawRequest, readTerms } from './lnurl-terms.ts';

export type { LnurlPayRequest, LnurlWithdrawRequest } from './lnurl-terms.ts';

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A client for LNURL services. Every call goes through the guarded fetch (docs/decisions.md 74). A failure of a service
 * is error 113; `isServiceRefusal` tells whether the service refused with `status: "ERROR"`.
 */
export interface LnurlClient {
  /**
   * Requests the kind and the terms of a service. Throws error 106 for a kind of LNURL that this wallet does not
   * support, for a withdrawal with no money left, and for a service that must know something of the payer (LUD-18).
   */
  discover(url: string, options?: CallOptions): Promise<LnurlPayRequest | LnurlWithdrawRequest>;
  /**
   * Requests an invoice for the amount and checks it (LUD-06, LUD-09). `sentComment` is the comment as it was sent: cut
   * to the length that the service accepts, or null.
   */
  requestInvoice(
    request: LnurlPayRequest,
    payment: { readonly amountMsat: bigint; readonly comment: string | null },
    options?: CallOptions,
  ): Promise<{ invoice: Bolt11Invoice; sentComment: string | null }>;
  /**
   * Hands an invoice to the service, which then pays it. After any error but a refusal of the service
   * (`isServiceRefusal`), the service may still pay (docs/decisions.md 54).
   */
  submitWithdraw(
    request: Pick<LnurlWithdrawRequest, 'callback' | 'k1'>,
    invoice: string,
    options?: CallOptions,
  ): Promise<void>;
}

/** Creates a client that sends its requests with `fetchJson`. */
export function createLnurlClient(fetchJson: FetchJson): LnurlClient {
  async function call(url: string, options: CallOptions | undefined): Promise<unknown> {
    const reply = await fetchJson(url, options);
    throwRefusal(reply);
    return reply;
  }

  return {
    async discover(url, options) {
      return readTerms(await call(url, options));
    },
    async requestInvoice(request, { amountMsat, comment }, options) {
      const url = new URL(request.callback);
      url.searchParams.set('amount', String(amountMsat));
      const sentComment = fittingComment(comment, request.commentAllowed);
      if (sentComment !== null) url.searchParams.set('comment', sentComment);
      const reply = await call(url.href, options);
      return { invoice: readInvoiceReply(reply, request, amountMsat), sentComment };
    },
    async submitWithdraw(request, invoice, options) {
      const url = new URL(request.callback);
      url.searchParams.set('k1', request.k1);
      url.searchParams.set('pr', invoice);
      readReply(z.object({ status: z.literal('OK') }), await call(url.href, options));
    },
  };
}

function fittingComment(comment: string | null, allowed: number): string | null {
  if (comment === null || allowed === 0) return null;
  return [...comment].slice(0, allowed).join('');
}
