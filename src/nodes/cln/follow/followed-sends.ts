import { turn } from '../../../lib/turn.ts';
import { isLightningSend, type Payment } from '../../../model/payment.ts';
import type { Observation } from '../../node-observations.ts';
import { sendsSeen } from '../lightning/seen-sends.ts';
import { inBatches } from '../reads/in-batches.ts';
import type { Found } from '../words/cursor.ts';
import { attemptsOf, hasPaidAll } from '../words/translate.ts';
import { type ClnSendpay, sendpayShape, sendpaysShape } from '../words/wire.ts';
import type { FollowedList, Look } from './look.ts';
import { findLost } from './lost-look.ts';
import { newRows } from './pages.ts';

const NAME = 'sendpays';

/** The outgoing Lightning payments of a wallet. */
export const SENDS: FollowedList = {
  name: NAME,
  orders: { created: 'now', updated: 'now' },
  // The answer of `xpay` tells of a payment that this process makes, and the node answers one call after another.
  isToldBeside: ({ endings }) => endings.areRunning,
  async *read(look) {
    if (look.isPutOff()) return;
    const { endings } = look.wallet;
    // A request may be waiting for the end of a send, and the lists may be long.
    const open = look.withOpen ? (await look.open('all')).filter(isLightningSend) : [];
    const lost = await findLost(look);
    yield* readAgain(look, [...new Set([...hashesOf(open), ...endings.due(), ...lost])]);
    const passed = new Set<string>();
    const pages = newRows(look, {
      name: NAME,
      rows: async (rpc, page) => (await rpc.list('listsendpays', page, sendpaysShape)).payments,
      observe: (from, rows, { sinceMs, isFirst }) => {
        const parts = readable(from, rows).filter((part) => !look.shown.has(stateOf(part)));
        const hashes = newHashes(parts, sinceMs);
        return isFirst ? ofFirstRead(from, { parts, hashes, passed }) : ofHashes(from, hashes);
      },
    });
    for await (const page of pages) {
      yield page;
      // The next look goes on behind this page.
      if (look.isPutOff()) return;
    }
  },
  dueInMs: ({ endings, lost }) => Math.min(endings.dueInMs, lost.dueInMs),
};

function hashesOf(payments: readonly Payment[]): string[] {
  return payments.flatMap(({ hash }) => (hash === null ? [] : [hash]));
}

async function* readAgain(look: Look, hashes: readonly string[]): AsyncGenerator<Found> {
  if (hashes.length > 0) yield { observations: await ofHashes(look, hashes), reached: {} };
}

/** The hashes of rows. A row is one part of an attempt, and the others may be on other pages. */
function newHashes(parts: readonly ClnSendpay[], sinceMs: number | null): string[] {
  const wanted = parts.filter(
    ({ status, created_at }) =>
      sinceMs === null || status === 'pending' || created_at * 1000 >= sinceMs,
  );
  return [...new Set(wanted.map(({ payment_hash }) => payment_hash))];
}

/** A page of a list that is read from its first row on, in the order in which its rows were made. */
interface FirstRead {
  readonly parts: readonly ClnSendpay[];
  readonly hashes: readonly string[];
  /** The hashes of the pages before. Those of this page are added. */
  readonly passed: Set<string>;
}

/**
 * What such a page says. A call for each hash of a long history would keep the node busy for minutes, so none is made
 * for one whose attempts the page shows whole: no page before it has the hash, so all begin here, and all that was owed
 * is paid, so nothing that counts can follow.
 */
async function ofFirstRead(
  look: Look,
  { parts, hashes, passed }: FirstRead,
): Promise<Observation[]> {
  const attempts = Map.groupBy(attemptsOf(parts), ({ hash }) => hash);
  const observations: Observation[] = [];
  const others: string[] = [];
  for (const hash of hashes) {
    // Reading an invoice takes the processor for up to some milliseconds.
    await turn();
    const own = attempts.get(hash) ?? [];
    if (!passed.has(hash) && own.every(hasPaidAll))
      observations.push(...sendsSeen(own, look.wallet));
    else others.push(hash);
  }
  for (const hash of attempts.keys()) passed.add(hash);
  return [...observations, ...(await ofHashes(look, others))];
}

/** A part as it stands: its row changes in no other way. */
function stateOf({ payment_hash, created_index, updated_index, status }: ClnSendpay): string {
  return `${payment_hash} ${created_index} ${updated_index} ${status}`;
}

function readable({ wallet, log }: Look, rows: readonly unknown[]): ClnSendpay[] {
  return wallet.oddRows.read(rows, { shape: sendpayShape, log, use: (row) => row });
}

async function ofHashes(look: Look, hashes: readonly string[]): Promise<Observation[]> {
  const read: SeenHash[] = [];
  for await (const some of inBatches(hashes, (hash) => ofHash(look, hash))) read.push(...some);
  const observations = await withoutOthers(
    look,
    read.flatMap((one) => one.observations),
  );
  // Not before all are read: where one read fails none is passed on, and the feed may go on.
  for (const { parts } of read) for (const part of parts) look.shown.add(stateOf(part));
  return observations;
}

interface SeenHash {
  readonly parts: readonly ClnSendpay[];
  readonly observations: readonly Observation[];
}

/** The attempts to pay a hash. None where a part cannot be read, since it may be the one that was paid. */
async function ofHash(look: Look, hash: string): Promise<SeenHash> {
  const request = { payment_hash: hash };
  const { payments } = await look.rpc.list('listsendpays', request, sendpaysShape);
  const parts = readable(look, payments);
  const { endings, lost } = look.wallet;
  const attempts = parts.length < payments.length ? [] : attemptsOf(await lost.marked(parts));
  endings.shown(hash, attempts);
  lost.shown(hash, attempts);
  return { parts, observations: sendsSeen(attempts, look.wallet) };
}

/**
 * Leaves out the failed attempts to pay a hash for which the wallet has another payment open. They were made outside,
 * or before a retry, and must not be taken for the end of that payment, which the node may not have begun yet.
 */
async function withoutOthers(
  { open }: Look,
  observations: readonly Observation[],
): Promise<Observation[]> {
  const isFailure = ({ payment }: Observation) => payment.status === 'failed';
  if (!observations.some(isFailure)) return [...observations];
  const pending = (await open('all')).filter(isLightningSend);
  const indexes = new Set<string>(pending.map(({ index }) => index));
  const hashes = new Set(hashesOf(pending));
  return observations.filter(
    (seen) =>
      !isFailure(seen) || indexes.has(seen.payment.index) || !hashes.has(seen.payment.hash ?? ''),
  );
}
