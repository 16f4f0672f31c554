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
  payRequest,
  readPayOrder,
  withdrawRequest,
} from '../../../codecs/lnurl-answers.ts';
import { ApiError } from '../../../model/errors.ts';
import { readOrRefuse } from '../../../model/read-or-error.ts';
import { createOutsideInvoice, payInvoiceFromOutside } from '../lightning/outside.ts';
import { firstRow, insertRow } from '../world/rows.ts';
import { outsideKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';

type LnurlTag = 'payRequest' | 'withdrawRequest';

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
  readonly callbackUrl: (name: string) => string;
  /** Domain of the Lightning Addresses. */
  readonly domain: string;
}

/** The query of a second call. */
export type LnurlQuery = Readonly<Record<string, string | undefined>>;

/** Seconds until the invoices of pay services expire; wallets pay them at once. */
const INVOICE_EXPIRY_SECS = 600;
const SERVICE_DESCRIPTION = 'sandbox';

/** Creates a service of the outside world and returns its name, which is longer than any username. */
export function createLnurlService(world: World, service: LnurlService): { name: string } {
  const name = hex.encode(world.random(16));
  insertRow(world, 'lnurl_services', {
    id: name,
    tag: service.tag,
    min_msat: String(service.minMsat),
    max_msat: String(service.maxMsat),
    comment_length: service.commentLength,
    description: service.description,
  });
  return { name };
}

/** The first answer of a pay service as a Lightning Address (LUD-16); null when there is none. */
export function lightningAddressAnswer(
  world: World,
  name: string,
  host: LnurlHost,
): LnurlAnswer | null {
  const service = findService(world, name);
  if (service?.tag === 'withdrawRequest') return lnurlError('This name takes no payments.');
  return service && payTerms(name, service, host);
}

/** Returns the first answer of a service, with its terms (LUD-03, LUD-06). */
export function lnurlAnswer(world: World, name: string, host: LnurlHost): LnurlAnswer {
  const service = findService(world, name);
  if (service === null) return unknownService();
  if (service.tag === 'payRequest') return payTerms(name, service, host);
  const { minMsat, maxMsat, description } = service;
  return withdrawRequest({
    callback: host.callbackUrl(name),
    k1: issueK1(world, name),
    minMsat,
    maxMsat,
    description: description ?? SERVICE_DESCRIPTION,
  });
}

function payTerms(name: string, service: LnurlService, host: LnurlHost): LnurlAnswer {
  const callback = host.callbackUrl(name);
  return payRequest({ ...service, callback, metadata: metadataOf(name, service, host) });
}

/** The second answer: an invoice of the outside world (LUD-06), or an invoice accepted (LUD-03). */
export function lnurlCallbackAnswer(
  world: World,
  name: string,
  query: LnurlQuery,
  host: LnurlHost,
): LnurlAnswer {
  const service = findService(world, name);
  if (service === null) return unknownService();
  try {
    return service.tag === 'withdrawRequest'
      ? withdraw(world, name, service, query)
      : issueInvoice(world, { name, service, query, host });
  } catch (error) {
    if (error instanceof ApiError) return lnurlError(error.message);
    throw error;
  }
}

function unknownService(): LnurlAnswer {
  return lnurlError('There is no service of that name here.');
}

function issueInvoice(
  world: World,
  request: {
    readonly name: string;
    readonly service: LnurlService;
    readonly query: LnurlQuery;
    readonly host: LnurlHost;
  },
): LnurlAnswer {
  const { name, service, query, host } = request;
  const order = readPayOrder(service, query);
  if (typeof order === 'string') return lnurlError(order);
  const { invoice } = createOutsideInvoice(world, {
    amountMsat: order.amountMsat,
    description: null,
    descriptionHash: metadataHash(metadataOf(name, service, host)),
    expirationSecs: INVOICE_EXPIRY_SECS,
    behavior: 'settle',
  });
  return { pr: invoice, routes: [] };
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
    const sql = 'SELECT invoice FROM lnurl_withdrawals WHERE k1 = ?';
    const earlier = firstRow<{ invoice: string }>(world, sql, k1);
    if (earlier !== null) {
      return earlier.invoice === pr ? LNURL_OK : lnurlError('This k1 was used already.');
    }
    insertRow(world, 'lnurl_withdrawals', { k1, service_id: name, invoice: pr });
    payInvoiceFromOutside(world, { invoice, amountMsat: null, message: null });
    return LNURL_OK;
  });
}

/** The metadata of a service. Both calls must use the same text, since the invoice commits to it. */
function metadataOf(name: string, service: LnurlService, { domain }: LnurlHost): string {
  return payMetadata(service.description ?? SERVICE_DESCRIPTION, `${name}@${domain}`);
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
  const bytes = hex.decode(k1);
  return timingSafeEqual(bytes.subarray(16), k1Proof(world, name, bytes.subarray(0, 16)));
}

function k1Proof(world: World, name: string, nonce: Uint8Array): Uint8Array {
  const message = concatBytes(utf8ToBytes(`lnurl-withdraw/${name}/`), nonce);
  return hmac(sha256, outsideKeys(world).nodeSecretKey, message).subarray(0, 16);
}

function findService(world: World, name: string): LnurlService | null {
  const row = firstRow<Omit<LnurlService, 'minMsat' | 'maxMsat'> & { min: string; max: string }>(
    world,
    `SELECT tag, min_msat AS min, max_msat AS max, comment_length AS commentLength, description
     FROM lnurl_services WHERE id = ?`,
    name,
  );
  if (row === null) return null;
  const { min, max, ...same } = row;
  return { ...same, minMsat: BigInt(min), maxMsat: BigInt(max) };
}
