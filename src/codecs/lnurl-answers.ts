import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** An answer of an LNURL service, which is JSON for errors too (LUD-01). */
export type LnurlAnswer = Readonly<Record<string, unknown>>;

/** Returns the error answer of every LUD. */
export function lnurlError(reason: string): LnurlAnswer {
  return { status: 'ERROR', reason };
}

/** The success answer without any content. */
export const LNURL_OK: LnurlAnswer = { status: 'OK' };

/** The terms in the first answer of an LNURL-pay service; amounts in millisatoshis. */
interface PayTerms {
  readonly callback: string;
  readonly minMsat: bigint;
  readonly maxMsat: bigint;
  readonly commentLength: number;
  readonly metadata: string;
}

/** Returns the first answer of an LNURL-pay service (LUD-06, LUD-12). */
export function payRequest(terms: PayTerms): LnurlAnswer {
  return {
    tag: 'payRequest',
    callback: terms.callback,
    minSendable: Number(terms.minMsat),
    maxSendable: Number(terms.maxMsat),
    metadata: terms.metadata,
    commentAllowed: terms.commentLength,
  };
}

/** Returns the metadata of a payment (LUD-06). `identifier` is a Lightning Address (LUD-16), or null. */
export function payMetadata(description: string, identifier: string | null): string {
  const entries = [['text/plain', description]];
  if (identifier !== null) entries.push(['text/identifier', identifier]);
  return JSON.stringify(entries);
}

/** Returns the hex SHA-256 of the metadata exactly as sent, which the invoice must hold (LUD-06). */
export function metadataHash(metadata: string): string {
  return hex.encode(sha256(utf8ToBytes(metadata)));
}

/** The terms in the first answer of an LNURL-withdraw service; amounts in millisatoshis. */
interface WithdrawTerms {
  readonly callback: string;
  readonly k1: string;
  readonly minMsat: bigint;
  readonly maxMsat: bigint;
  readonly description: string;
}

/** Returns the first answer of an LNURL-withdraw service (LUD-03). */
export function withdrawRequest(terms: WithdrawTerms): LnurlAnswer {
  return {
    tag: 'withdrawRequest',
    callback: terms.callback,
    k1: terms.k1,
    defaultDescription: terms.description,
    minWithdrawable: Number(terms.minMsat),
    maxWithdrawable: Number(terms.maxMsat),
  };
}

/** What a payer asks for in the second call of LNURL-pay. */
export interface PayOrder {
  readonly amountMsat: bigint;
  /** Null for none, and for an empty one. */
  readonly comment: string | null;
}

/** Reads the second call's parameters (LUD-06, LUD-12); a sentence for the payer where they do not fit the terms. */
export function readPayOrder(
  terms: Pick<PayTerms, 'minMsat' | 'maxMsat' | 'commentLength'>,
  query: { readonly amount?: string | undefined; readonly comment?: string | undefined },
): PayOrder | string {
  const amountMsat = msatOf(query.amount);
  const comment = query.comment || null;
  if (amountMsat === null) return 'Say the amount in millisatoshis.';
  if (amountMsat < terms.minMsat || amountMsat > terms.maxMsat) {
    return `The amount must be from ${terms.minMsat} to ${terms.maxMsat} millisatoshis.`;
  }
  if (comment !== null && [...comment].length > terms.commentLength) {
    return `The comment may have at most ${terms.commentLength} characters.`;
  }
  return { amountMsat, comment };
}

function msatOf(text: string | undefined): bigint | null {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : null;
}
