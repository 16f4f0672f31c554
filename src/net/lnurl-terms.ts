import { z } from 'zod';
import { MAX_AMOUNT_MSAT } from '../codecs/network.ts';
import { once } from '../lib/once.ts';
import { refused } from '../model/errors.ts';
import { INVOICE_DESCRIPTION_MAX_BYTES } from '../model/text.ts';
import { foreignText } from './foreign-text.ts';
import { readReply } from './lnurl-reply.ts';
import { serviceFailed } from './service-error.ts';

/** The terms of an LNURL-pay service (LUD-06); amounts in millisatoshis. */
export interface LnurlPayRequest {
  readonly tag: 'payRequest';
  readonly callback: string;
  readonly minSendableMsat: bigint;
  readonly maxSendableMsat: bigint;
  /** The text exactly as received: the invoice holds its hash. */
  readonly metadata: string;
  /** The `text/plain` entry, printable, at most 1,000 characters. */
  readonly description: string | null;
  /** The `text/long-desc` entry, which is to be preferred (LUD-20), printable, at most 1,000 characters. */
  readonly longDescription: string | null;
  /** The most characters of a comment; 0: the service accepts none (LUD-12). */
  readonly commentAllowed: number;
}

/** The terms of an LNURL-withdraw service (LUD-03). */
export interface LnurlWithdrawRequest {
  readonly tag: 'withdrawRequest';
  readonly callback: string;
  readonly k1: string;
  /** Printable, and short enough for the description of an invoice (639 UTF-8 bytes). */
  readonly defaultDescription: string | null;
  readonly minWithdrawableMsat: bigint;
  readonly maxWithdrawableMsat: bigint;
}

/** The most characters of a callback or `k1`, which both become part of a URL. */
const MAX_URL_PART = 8_000;
const MAX_SHOWN_CHARACTERS = 1_000;
/** Known kinds of LNURL that this wallet does not support (LUD-02, LUD-04, LUD-07). */
const OTHER_TAGS: ReadonlySet<string> = new Set([
  'login',
  'channelRequest',
  'hostedChannelRequest',
]);

/** Text that is passed on unchanged. A lone surrogate is not allowed: it has no UTF-8 form, so it would change. */
const exactText = once(() => z.string().refine((text) => text.isWellFormed()));
const urlPart = once(() => exactText().max(MAX_URL_PART));
const callback = once(() => urlPart().refine(isCallback));

/** Some services name limits above 21 million BTC. Those count as 21 million BTC. */
const msat = once(() =>
  z
    .number()
    .min(0)
    .refine(Number.isInteger)
    .transform((value) => (BigInt(value) < MAX_AMOUNT_MSAT ? BigInt(value) : MAX_AMOUNT_MSAT)),
);

const payReply = once(() =>
  z.object({
    callback: callback(),
    minSendable: msat().refine((value) => value > 0n),
    maxSendable: msat(),
    metadata: exactText(),
    commentAllowed: z.number().catch(0),
    payerData: z.record(z.string(), z.unknown()).catch({}),
  }),
);
const mandatory = once(() => z.object({ mandatory: z.literal(true) }));

const withdrawReply = once(() =>
  z.object({
    callback: callback(),
    k1: urlPart(),
    defaultDescription: z.string().nullish(),
    minWithdrawable: msat(),
    maxWithdrawable: msat(),
  }),
);

/**
 * Reads the terms of a service. Throws error 113 for an answer that breaks a rule of its LUD, and error 106 for a known
 * kind of LNURL that this wallet does not support, for a withdrawal with no money left, and for a service that must
 * know something of the payer (LUD-18).
 */
export function readTerms(reply: unknown): LnurlPayRequest | LnurlWithdrawRequest {
  const { tag } = readReply(z.object({ tag: exactText() }), reply);
  if (tag === 'payRequest') return payRequestOf(readReply(payReply(), reply));
  if (tag === 'withdrawRequest') return withdrawRequestOf(readReply(withdrawReply(), reply));
  const message = 'This LNURL is neither for paying nor for withdrawing.';
  throw OTHER_TAGS.has(tag) ? refused(message) : serviceFailed('unusable_answer', message);
}

/** Whether a callback is a usable URL. Whether its host is allowed is checked when it is requested. */
function isCallback(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === ''
  );
}

function payRequestOf(reply: z.output<ReturnType<typeof payReply>>): LnurlPayRequest {
  if (reply.minSendable > reply.maxSendable) throw crossedLimits();
  if (Object.values(reply.payerData).some((wish) => mandatory().safeParse(wish).success)) {
    throw refused(
      'The LNURL service must be told something about the payer, which this wallet does not do: ask the receiver for another way to pay.',
    );
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

function crossedLimits() {
  return serviceFailed(
    'unusable_answer',
    'The LNURL service accepts no amount: its minimum is above its maximum.',
  );
}

/** LUD-06: there must be exactly one `text/plain` entry; other entries may hold anything. */
function descriptionsOf(metadata: string): {
  description: string | null;
  longDescription: string | null;
} {
  const entries = readReply(
    z.array(z.tuple([z.string()]).rest(z.unknown())),
    jsonOf(metadata),
    'metadata',
  );
  const texts = (kind: string) =>
    entries.flatMap(([name, value]) => (name === kind && typeof value === 'string' ? [value] : []));
  const plain = texts('text/plain');
  if (plain.length !== 1) {
    throw serviceFailed(
      'unusable_answer',
      'The LNURL service must describe itself with exactly one text/plain entry.',
    );
  }
  return { description: shown(plain[0]), longDescription: shown(texts('text/long-desc')[0]) };
}

function shown(text: string | undefined): string | null {
  return foreignText(text, { maxCharacters: MAX_SHOWN_CHARACTERS }) || null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withdrawRequestOf(
  reply: z.output<ReturnType<typeof withdrawReply>>,
): LnurlWithdrawRequest {
  if (reply.minWithdrawable > reply.maxWithdrawable) throw crossedLimits();
  if (reply.maxWithdrawable === 0n) throw refused('This LNURL has nothing to withdraw.');
  const description = foreignText(reply.defaultDescription, {
    maxCharacters: MAX_SHOWN_CHARACTERS,
    maxBytes: INVOICE_DESCRIPTION_MAX_BYTES,
  });
  return {
    tag: 'withdrawRequest',
    callback: reply.callback,
    k1: reply.k1,
    defaultDescription: description || null,
    minWithdrawableMsat: reply.minWithdrawable,
    maxWithdrawableMsat: reply.maxWithdrawable,
  };
}
