import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { RawTx } from '@scure/btc-signer';
import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { BadAnswer, unlikeEsplora } from './esplora-words.ts';

/** A block as the Esplora tells of it. */
export interface ToldBlock {
  readonly hash: string;
  readonly height: number;
  /** When it was mined, as its header says. */
  readonly atMs: number;
}

/** What an answer says, as far as it is looked at. */
export interface CheckedAnswer {
  /** What the helper is given: what came, unless fee rates had to be bounded. */
  readonly body: Uint8Array;
  /** What health says of an answer that is used all the same; null for nothing. */
  readonly note: string | null;
  /** The hash of the newest block, if that was asked for. */
  readonly newest: string | null;
}

/** The highest fee rate that is taken over, in satoshis per virtual byte. No block of mainnet ever asked for more. */
const MOST_SAT_PER_VBYTE = 2000;

const HASH = /^[0-9a-f]{64}$/;
const HEX = /^([0-9a-f]{2})+$/;

const shapes = once(() => ({
  block: z.object({
    id: z.string().regex(HASH),
    height: z.int().min(0),
    timestamp: z.int().min(0),
  }),
  blocks: z.array(z.object({ id: z.string().regex(HASH), height: z.int().min(0) })).min(1),
  fees: z.record(z.string(), z.number()),
}));

/** Reads a block. Throws {@link BadAnswer}. */
export function readBlock(path: string, body: Uint8Array): ToldBlock {
  const read = shapes().block.safeParse(jsonOf(path, body));
  if (!read.success || !path.endsWith(read.data.id)) throw unlikeEsplora(path);
  const { id, height, timestamp } = read.data;
  return { hash: id, height, atMs: timestamp * 1000 };
}

/** Reads the hash of a block. Throws {@link BadAnswer}. */
export function readHash(path: string, body: Uint8Array): string {
  return matching(path, body, HASH);
}

/**
 * Checks what the Esplora said to a path that LDK and BDK ask for, without asking anything else: that it is of the
 * right form, and fits what it was asked for where that can be computed. Throws {@link BadAnswer}.
 */
export function checkedAnswer(path: string, body: Uint8Array): CheckedAnswer {
  const [first, second = '', third] = path.split('/');
  if (path === 'fee-estimates') return boundedFees(path, body);
  if (path === 'blocks/tip/hash') return { ...asIs(body), newest: readHash(path, body) };
  if (path === 'blocks') {
    const read = shapes().blocks.safeParse(jsonOf(path, body));
    if (!read.success) throw unlikeEsplora(path);
    const newest = read.data.reduce((one, other) => (other.height > one.height ? other : one));
    return { ...asIs(body), newest: newest.id };
  }
  if (first === 'block-height') readHash(path, body);
  else if (third === 'header') requireHash(second, hex.decode(matching(path, body, HEX)));
  else if (first === 'tx' && third === 'raw') requireTxid(path, second, body);
  else if (third === 'hex' || third === 'merkleblock-proof') matching(path, body, HEX);
  else jsonOf(path, body);
  return asIs(body);
}

const asIs = (body: Uint8Array): CheckedAnswer => ({ body, note: null, newest: null });

function boundedFees(path: string, body: Uint8Array): CheckedAnswer {
  const read = shapes().fees.safeParse(jsonOf(path, body));
  if (!read.success) throw unlikeEsplora(path);
  const highest = Math.max(0, ...Object.values(read.data));
  if (highest <= MOST_SAT_PER_VBYTE) return asIs(body);
  const bounded = Object.entries(read.data).map(([blocks, rate]) => [
    blocks,
    Math.min(rate, MOST_SAT_PER_VBYTE),
  ]);
  return {
    ...asIs(new TextEncoder().encode(JSON.stringify(Object.fromEntries(bounded)))),
    note: `The Esplora tells of fee rates up to ${highest} sats per virtual byte, which cannot be right: ${MOST_SAT_PER_VBYTE} are used at most. Check --esplora-url.`,
  };
}

/** A header is named by its own hash. */
function requireHash(hash: string, header: Uint8Array): void {
  if (header.length === 80 && shownHash(header) === hash) return;
  throw new BadAnswer(
    'The Esplora sends a block header that is not the one that was asked for: check --esplora-url.',
  );
}

function requireTxid(path: string, txid: string, bytes: Uint8Array): void {
  if (txidOf(path, bytes) === txid) return;
  throw new BadAnswer(
    'The Esplora sends a transaction that is not the one that was asked for: check --esplora-url.',
  );
}

function txidOf(path: string, bytes: Uint8Array): string {
  try {
    const parsed = RawTx.decode(bytes);
    return shownHash(RawTx.encode({ ...parsed, segwitFlag: false, witnesses: undefined }));
  } catch {
    throw unlikeEsplora(path);
  }
}

function shownHash(bytes: Uint8Array): string {
  return hex.encode(sha256(sha256(bytes)).reverse());
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body).trim();
}

function matching(path: string, body: Uint8Array, form: RegExp): string {
  const text = textOf(body);
  if (!form.test(text)) throw unlikeEsplora(path);
  return text;
}

function jsonOf(path: string, body: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(body));
  } catch {
    throw unlikeEsplora(path);
  }
}
