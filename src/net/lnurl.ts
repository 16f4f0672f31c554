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
 * The wallet's side of LNURL. Every call goes through the guarded fetch. What a service does wrong is error 113; its
 * own refusal (`status: "ERROR"`) among it is told apart by `isServiceRefusal`.
 */
export interface LnurlClient {
  /** Asks a service what it is and on what terms. Throws `refused` for a kind of LNURL that is not done here. */
  discover(url: string, options?: CallOptions): Promise<LnurlPayRequest | LnurlWithdrawRequest>;
  /** Asks for an invoice of the amount and checks it (LUD-06, LUD-09). `sentComment` is what was really sent. */
  requestInvoice(
    request: LnurlPayRequest,
    payment: { readonly amountMsat: bigint; readonly comment: string | null },
    options?: CallOptions,
  ): Promise<{ invoice: Bolt11Invoice; sentComment: string | null }>;
  /** Hands over an invoice to be paid. Only a refusal says that the service will not pay it. */
  submitWithdraw(
    request: Pick<LnurlWithdrawRequest, 'callback' | 'k1'>,
    invoice: string,
    options?: CallOptions,
  ): Promise<void>;
}

/** Opens the client. */
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
