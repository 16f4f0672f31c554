import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { decodeBolt11 } from '../codecs/bolt11/index.ts';
import { CodecError } from '../codecs/codec-error.ts';
import { MAX_AMOUNT_MSAT } from '../model/amount.ts';
import { ApiError, refused } from '../model/errors.ts';
import type { FetchJson } from './guarded-fetch.ts';

/** The terms of an LNURL-pay service (LUD-06); amounts in millisatoshis. */
export interface LnurlPayRequest {
  readonly tag: 'payRequest';
  readonly callback: string;
  readonly minSendableMsat: bigint;
  readonly maxSendableMsat: bigint;
  /** Exactly as received: the invoice commits to it. */
  readonly metadata: string;
  /** The `text/plain` entry. */
  readonly description: string | null;
  /** The `text/long-desc` entry, to be preferred (LUD-20). */
  readonly longDescription: string | null;
  /** Most characters of a comment; 0 takes none (LUD-12). */
  readonly commentAllowed: number;
}

/** The terms of an LNURL-withdraw service (LUD-03). */
export interface LnurlWithdrawRequest {
  readonly tag: 'withdrawRequest';
  readonly callback: string;
  readonly k1: string;
  readonly defaultDescription: string | null;
  readonly minWithdrawableMsat: bigint;
  readonly maxWithdrawableMsat: bigint;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The wallet's side of LNURL. Every call goes through the guarded fetch. */
export interface LnurlClient {
  /** Asks a service what it is and on what terms. Throws `refused` with its reason, or for an unknown kind. */
  discover(url: string, options?: CallOptions): Promise<LnurlPayRequest | LnurlWithdrawRequest>;
  /** Asks for an invoice of the amount and checks it (LUD-06, LUD-09). `sentComment` is what was really sent. */
  requestInvoice(
    request: LnurlPayRequest,
    payment: { readonly amountMsat: bigint; readonly comment: string | null },
    options?: CallOptions,
  ): Promise<{ invoice: string; sentComment: string | null }>;
  /** Hands over an invoice to be paid. Throws `refused` when the service will not pay it. */
  submitWithdraw(
    request: LnurlWithdrawRequest,
    invoice: string,
    options?: CallOptions,
  ): Promise<void>;
}

/** Services name limits beyond all money there is; they count as that. */
const msat = z
  .number()
  .min(0)
  .refine(Number.isInteger)
  .transform((value) => (BigInt(value) < MAX_AMOUNT_MSAT ? BigInt(value) : MAX_AMOUNT_MSAT));

const payReply = z.object({
  tag: z.literal('payRequest'),
  callback: z.url(),
  minSendable: msat.refine((value) => value > 0n),
  maxSendable: msat,
  metadata: z.string(),
  commentAllowed: z.number().catch(0),
});

const withdrawReply = z.object({
  tag: z.literal('withdrawRequest'),
  callback: z.url(),
  k1: z.string(),
  defaultDescription: z.string().nullish(),
  minWithdrawable: msat,
  maxWithdrawable: msat,
});

const successAction = z.discriminatedUnion('tag', [
  z.object({ tag: z.literal('message'), message: z.string().max(144) }),
  z.object({ tag: z.literal('url'), description: z.string().max(144), url: z.url() }),
  z.object({
    tag: z.literal('aes'),
    description: z.string().max(144),
    ciphertext: z.string(),
    iv: z.string(),
  }),
]);

const invoiceReply = z.object({ pr: z.string(), successAction: z.unknown().optional() });

/** Opens the client. */
export function createLnurlClient(fetchJson: FetchJson): LnurlClient {
  async function call(url: string, options: CallOptions | undefined): Promise<unknown> {
    const reply = await fetchJson(url, options);
    const failure = z.object({ status: z.literal('ERROR'), reason: z.unknown() }).safeParse(reply);
    if (failure.success) throw refused(`The service answered: ${printable(failure.data.reason)}`);
    return reply;
  }

  return {
    async discover(url, options) {
      const reply = await call(url, options);
      const { tag } = read(z.object({ tag: z.string() }), reply);
      if (tag === 'payRequest') return payRequestOf(read(payReply, reply));
      if (tag === 'withdrawRequest') return withdrawRequestOf(read(withdrawReply, reply));
      throw refused('This LNURL is neither for paying nor for withdrawing.');
    },
    async requestInvoice(request, { amountMsat, comment }, options) {
      const url = new URL(request.callback);
      url.searchParams.set('amount', String(amountMsat));
      const sentComment = fittingComment(comment, request.commentAllowed);
      if (sentComment !== null) url.searchParams.set('comment', sentComment);
      const reply = read(invoiceReply, await call(url.href, options));
      checkSuccessAction(reply.successAction, request.callback);
      checkInvoice(reply.pr, amountMsat, request.metadata);
      return { invoice: reply.pr, sentComment };
    },
    async submitWithdraw(request, invoice, options) {
      const url = new URL(request.callback);
      url.searchParams.set('k1', request.k1);
      url.searchParams.set('pr', invoice);
      read(z.object({ status: z.literal('OK') }), await call(url.href, options));
    },
  };
}

function read<T>(schema: z.ZodType<T>, reply: unknown): T {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ApiError(
    'unreadable',
    `The LNURL service answered something unreadable${field && ` (${field})`}.`,
  );
}

function payRequestOf(reply: z.output<typeof payReply>): LnurlPayRequest {
  if (reply.minSendable > reply.maxSendable) {
    throw new ApiError('unreadable', 'The LNURL service takes no amount at all: its limits cross.');
  }
  return {
    tag: 'payRequest',
    callback: reply.callback,
    minSendableMsat: reply.minSendable,
    maxSendableMsat: reply.maxSendable,
    metadata: reply.metadata,
    ...descriptionsOf(reply.metadata),
    commentAllowed: Math.max(0, Math.floor(reply.commentAllowed)),
  };
}

/** LUD-06: exactly one `text/plain`; other entries may hold anything. */
function descriptionsOf(metadata: string): {
  description: string | null;
  longDescription: string | null;
} {
  const entries = read(z.array(z.tuple([z.string()]).rest(z.unknown())), jsonOf(metadata));
  const texts = (kind: string) =>
    entries.flatMap(([name, value]) => (name === kind && typeof value === 'string' ? [value] : []));
  const plain = texts('text/plain');
  if (plain.length !== 1) {
    throw new ApiError(
      'unreadable',
      'The LNURL service must describe itself with exactly one text/plain.',
    );
  }
  return { description: plain[0] ?? null, longDescription: texts('text/long-desc')[0] ?? null };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withdrawRequestOf(reply: z.output<typeof withdrawReply>): LnurlWithdrawRequest {
  if (reply.minWithdrawable > reply.maxWithdrawable || reply.maxWithdrawable === 0n) {
    throw refused('This LNURL has nothing to withdraw.');
  }
  return {
    tag: 'withdrawRequest',
    callback: reply.callback,
    k1: reply.k1,
    defaultDescription: reply.defaultDescription ?? null,
    minWithdrawableMsat: reply.minWithdrawable,
    maxWithdrawableMsat: reply.maxWithdrawable,
  };
}

function fittingComment(comment: string | null, allowed: number): string | null {
  if (comment === null || allowed === 0) return null;
  return [...comment].slice(0, allowed).join('');
}

/** LUD-09: an unknown action means do not pay; a link must stay on the callback's domain. */
function checkSuccessAction(action: unknown, callback: string): void {
  if (action === undefined || action === null) return;
  const parsed = successAction.safeParse(action);
  if (!parsed.success) {
    throw refused(
      'The service announces an action after payment that this wallet does not know, so it was not paid.',
    );
  }
  if (
    parsed.data.tag === 'url' &&
    new URL(parsed.data.url).hostname !== new URL(callback).hostname
  ) {
    throw refused('The service would lead to another domain after payment, so it was not paid.');
  }
}

/** LUD-06: the amount asked for, and the hash of the metadata. */
function checkInvoice(text: string, amountMsat: bigint, metadata: string): void {
  const invoice = readInvoice(text);
  if (invoice.amountMsat !== amountMsat) {
    throw refused('The service answered with an invoice of another amount, so it was not paid.');
  }
  if (invoice.descriptionHash !== bytesToHex(sha256(utf8ToBytes(metadata)))) {
    throw refused('The invoice does not commit to the terms of the service, so it was not paid.');
  }
}

function readInvoice(text: string) {
  try {
    return decodeBolt11(text);
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    throw new ApiError('unreadable', 'The LNURL service answered with an unreadable invoice.', {
      cause: error,
    });
  }
}

/** A stranger's text, short and without control characters. */
function printable(reason: unknown): string {
  return String(reason).replace(/\p{C}/gu, ' ').slice(0, 200);
}
