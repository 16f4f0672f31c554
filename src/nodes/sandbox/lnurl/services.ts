import { timingSafeEqual } from 'node:crypto';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { decodeBolt11 } from '../../../codecs/bolt11/index.ts';
import {
  LNURL_OK,
  type LnurlAnswer,
  lnurlError,
  metadataHash,
  payMetadata,
  payObstacle,
  payRequest,
  withdrawRequest,
} from '../../../codecs/lnurl-answers.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import { readOrRefuse } from '../../../model/read-or-error.ts';
import { noteInput } from '../../../model/text.ts';
import { createInvoice } from '../lightning/invoices.ts';
import { createOutsideInvoice, payInvoiceFromOutside } from '../lightning/outside.ts';
import { walletOfUsername } from '../names/names.ts';
import { updatePayment } from '../world/payments.ts';
import { outsideKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';

/** The two kinds of LNURL service that the outside world offers. */
export type LnurlTag = 'payRequest' | 'withdrawRequest';

/** An LNURL service; amounts in millisatoshis. */
export interface LnurlService {
  readonly tag: LnurlTag;
  readonly minMsat: bigint;
  readonly maxMsat: bigint;
  /** The most characters of a comment (LUD-12); 0 when comments are not accepted. */
  readonly commentLength: number;
  readonly description: string | null;
}

/** The URLs and the domain under which the sidecar serves LNURL. */
export interface LnurlHost {
  /** URL of the second call of the service of that name. */
  readonly callbackUrl: (name: string) => string;
  /** Domain of the Lightning Addresses. */
  readonly domain: string;
}

/** The query of a second call. */
export type LnurlQuery = Readonly<Record<string, string | undefined>>;

/** 100 BTC, which JSON numbers hold exactly in every reader. */
const MOST_BY_ADDRESS_MSAT = 100n * 100_000_000n * MSAT_PER_SAT;

/** The terms of a wallet's Lightning Address: from 1 sat, with a comment as long as messages may be. */
const ADDRESS_TERMS = {
  minMsat: MSAT_PER_SAT,
  maxMsat: MOST_BY_ADDRESS_MSAT,
  commentLength: 200,
} as const;
/** Seconds until the invoices of pay services expire; wallets pay them at once. */
const INVOICE_EXPIRY_SECS = 600;
const SERVICE_DESCRIPTION = 'sandbox';

/** Creates a service of the outside world and returns its name, which is longer than any username. */
export function createLnurlService(world: World, service: LnurlService): { name: string } {
  const name = hex.encode(world.random(16));
  world.db
    .query(
      `INSERT INTO lnurl_services (id, tag, min_msat, max_msat, comment_length, description)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    .run(
      name,
      service.tag,
      String(service.minMsat),
      String(service.maxMsat),
      service.commentLength,
      service.description,
    );
  return { name };
}

/** The first answer of a Lightning Address: a claimed username, or the name of a pay service (LUD-16). */
export function lightningAddressAnswer(world: World, name: string, host: LnurlHost): LnurlAnswer {
  return findService(world, name)?.tag === 'withdrawRequest'
    ? lnurlError('This name takes no payments.')
    : lnurlAnswer(world, name, host);
}

/** The first answer of a service or Lightning Address, with its terms (LUD-03, LUD-06). */
export function lnurlAnswer(world: World, name: string, host: LnurlHost): LnurlAnswer {
  const callback = host.callbackUrl(name);
  const service = findService(world, name);
  if (service?.tag === 'withdrawRequest') {
    const { minMsat, maxMsat, description } = service;
    return withdrawRequest({
      callback,
      k1: issueK1(world, name),
      minMsat,
      maxMsat,
      description: description ?? SERVICE_DESCRIPTION,
    });
  }
  if (service === null && walletOfUsername(world, name) === null) return unknownName();
  const metadata = metadataOf(name, service, host);
  return payRequest({ ...(service ?? ADDRESS_TERMS), callback, metadata });
}

/** The second answer: an invoice for a payer (LUD-06), or the acceptance of an invoice to pay (LUD-03). */
export function lnurlCallbackAnswer(
  world: World,
  name: string,
  query: LnurlQuery,
  host: LnurlHost,
): LnurlAnswer {
  const service = findService(world, name);
  const userPk = service === null ? walletOfUsername(world, name) : null;
  if (service === null && userPk === null) return unknownName();
  try {
    return service?.tag === 'withdrawRequest'
      ? withdraw(world, name, service, query)
      : issueInvoice(world, { name, service, userPk, query, host });
  } catch (error) {
    if (error instanceof ApiError) return lnurlError(error.message);
    throw error;
  }
}

function unknownName(): LnurlAnswer {
  return lnurlError('There is no payee of that name here.');
}

function issueInvoice(
  world: World,
  request: {
    readonly name: string;
    readonly service: LnurlService | null;
    readonly userPk: string | null;
    readonly query: LnurlQuery;
    readonly host: LnurlHost;
  },
): LnurlAnswer {
  const { name, service, userPk, query, host } = request;
  const amountMsat = msatOf(query.amount);
  const comment = query.comment === undefined || query.comment === '' ? null : query.comment;
  const obstacle = payObstacle(service ?? ADDRESS_TERMS, { amountMsat, comment });
  if (obstacle !== null || amountMsat === null) return lnurlError(obstacle ?? 'Say the amount.');
  const descriptionHash = metadataHash(metadataOf(name, service, host));
  const invoice =
    userPk === null
      ? createOutsideInvoice(world, {
          amountMsat,
          description: null,
          descriptionHash,
          expirationSecs: INVOICE_EXPIRY_SECS,
          behavior: 'settle',
        }).invoice
      : walletInvoice(world, userPk, { amountMsat, descriptionHash, comment });
  return { pr: invoice, routes: [] };
}

function walletInvoice(
  world: World,
  userPk: string,
  terms: {
    readonly amountMsat: bigint;
    readonly descriptionHash: string;
    readonly comment: string | null;
  },
): string {
  const { amountMsat, descriptionHash, comment } = terms;
  if (comment !== null && !noteInput.safeParse(comment).success) {
    throw refused('The comment is too long; shorten it.');
  }
  return world.transact(() => {
    const { invoice, payment } = createInvoice(world, userPk, {
      createdAtMs: world.clock.now(),
      expirationSecs: INVOICE_EXPIRY_SECS,
      amountMsat,
      description: null,
      descriptionHash,
      personalNote: null,
      message: null,
      partnerPk: null,
      partnerPropFeePpm: null,
      partnerBaseFeeMsat: null,
      preimage: null,
    });
    if (comment !== null) updatePayment(world, userPk, payment.index, { message: comment });
    return invoice;
  });
}

function withdraw(
  world: World,
  name: string,
  service: LnurlService,
  { k1, pr }: LnurlQuery,
): LnurlAnswer {
  if (k1 === undefined || pr === undefined) return lnurlError('k1 and pr are needed.');
  if (!isK1(world, name, k1)) return lnurlError('This k1 was not given out here.');
  const invoice = readOrRefuse(() => decodeBolt11(pr));
  const { amountMsat } = invoice;
  if (amountMsat === null || amountMsat < service.minMsat || amountMsat > service.maxMsat) {
    return lnurlError(
      `The invoice must be for ${service.minMsat} to ${service.maxMsat} millisatoshis.`,
    );
  }
  return world.transact(() => {
    const earlier = world.db
      .query<{ invoice: string }, [string]>('SELECT invoice FROM lnurl_withdrawals WHERE k1 = ?')
      .get(k1);
    if (earlier !== null) {
      return earlier.invoice === pr ? LNURL_OK : lnurlError('This k1 was used already.');
    }
    world.db
      .query('INSERT INTO lnurl_withdrawals (k1, service_id, invoice) VALUES (?, ?, ?)')
      .run(k1, name, pr);
    payInvoiceFromOutside(world, { invoice, amountMsat: null, message: null });
    return LNURL_OK;
  });
}

function msatOf(text: string | undefined): bigint | null {
  return text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : null;
}

/** The metadata of a service. Both calls must use the same text, since the invoice commits to it. */
function metadataOf(name: string, service: LnurlService | null, { domain }: LnurlHost): string {
  const address = `${name}@${domain}`;
  return payMetadata(
    service === null ? address : (service.description ?? SERVICE_DESCRIPTION),
    address,
  );
}

/**
 * Makes a k1 that can be recognized without being stored, so that reading a link stores nothing: 16 random bytes, and
 * the first 16 bytes of their HMAC-SHA256 under a key of the outside world.
 */
function issueK1(world: World, name: string): string {
  const nonce = world.random(16);
  return hex.encode(concatBytes(nonce, k1Proof(world, name, nonce)));
}

function isK1(world: World, name: string, k1: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(k1)) return false;
  const bytes = Buffer.from(k1, 'hex');
  return timingSafeEqual(bytes.subarray(16), k1Proof(world, name, bytes.subarray(0, 16)));
}

function k1Proof(world: World, name: string, nonce: Uint8Array): Uint8Array {
  const message = concatBytes(utf8ToBytes(`lnurl-withdraw/${name}/`), nonce);
  return hmac(sha256, outsideKeys(world).nodeSecretKey, message).subarray(0, 16);
}

function findService(world: World, name: string): LnurlService | null {
  const row = world.db
    .query<
      {
        tag: LnurlTag;
        min_msat: string;
        max_msat: string;
        comment_length: number;
        description: string | null;
      },
      [string]
    >(
      `SELECT tag, min_msat, max_msat, comment_length, description
       FROM lnurl_services WHERE id = ?`,
    )
    .get(name);
  return (
    row && {
      tag: row.tag,
      minMsat: BigInt(row.min_msat),
      maxMsat: BigInt(row.max_msat),
      commentLength: row.comment_length,
      description: row.description,
    }
  );
}
