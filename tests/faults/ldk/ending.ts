import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import type { PaymentJson } from '../../../src/model/payment.ts';
import type { LdkRow } from '../../../src/nodes/ldk/words/words.ts';
import { deliverEverything } from '../checks.ts';
import { rowsOf } from '../rows.ts';
import { costOf, msat } from '../trial.ts';
import { eventually, expectOneTruth } from '../truth.ts';
import { type Client, isLost, type LdkKillWorld } from './world.ts';

/** What an agreed closing of a channel of the wallet's own may cost at most, in millisatoshis. */
const CLOSING_MSAT = 3_000_000n;

/** Whether the end of a payment must be delivered. What arrives without an invoice is known only when it is over. */
function isWatched({ direction, rail, status }: PaymentJson): boolean {
  if (direction === 'info') return false;
  return direction === 'outbound' || rail === 'invoice' || status !== 'pending';
}

/**
 * Checks that all who tell of the wallet's payments agree when nothing is under way: lists, the walk of updates, tails,
 * the store's rows, deliveries, the other nodes, the budgets and the balance, of which `closed` channels may have cost a
 * part. Returns the payments.
 */
export async function expectWorldAgrees(
  world: LdkKillWorld,
  closed: number,
): Promise<readonly PaymentJson[]> {
  const payments = await expectOneTruth({
    ...{ ...world.tellers(), atNode: () => undefined, isWatched, mayBePending: isLost },
  });
  await expectDelivered(world, payments);
  await expectSameAtOthers(world, payments);
  await expectBudget(world, payments);
  await expectCoins(world);
  await expectBalance(world, payments, closed);
  return payments;
}

async function expectDelivered(
  { receiver, sidecar }: LdkKillWorld,
  payments: readonly PaymentJson[],
): Promise<void> {
  const due = payments.filter((one) => isWatched(one) && one.status !== 'pending');
  const ids = ({ direction, index }: PaymentJson) =>
    receiver.ids(direction === 'outbound', index).size;
  await eventually(async () => {
    if (due.every((one) => ids(one) === 1)) return true;
    await deliverEverything(sidecar);
    await Bun.sleep(500);
    return false;
  }, 90_000);
  const wrong = due.filter((one) => ids(one) !== 1).map((one) => `${one.index}: ${ids(one)} ids`);
  const known = new Set(due.map(({ index }) => index));
  const others = [true, false]
    .flatMap((outbound) => [...receiver.accepted(outbound).keys()])
    .filter((index) => !known.has(index));
  requireNone('notices lost, or of nothing', [...wrong, ...others, ...receiver.invalid()]);
}

/** What others got is what the wallet paid, each once; and the other way round. The others may know it later. */
async function expectSameAtOthers(
  world: LdkKillWorld,
  payments: readonly PaymentJson[],
): Promise<void> {
  let wrong: readonly string[] = [];
  await eventually(async () => {
    wrong = await differencesAtOthers(world, payments);
    return wrong.length === 0;
  });
  requireNone('the other nodes say otherwise', wrong);
}

async function differencesAtOthers(
  world: LdkKillWorld,
  payments: readonly PaymentJson[],
): Promise<readonly string[]> {
  const rows = (await Promise.all([world.lsp, world.payer].map((one) => world.rowsOf(one)))).flat();
  // What the payer and the LSP pay each other is none of the wallet's.
  const lost = payments.filter(isLost).map(({ hash }) => `${hash}`);
  const isBetween = (row: LdkRow) =>
    rows.some((one) => one.direction !== row.direction && one.hash === row.hash);
  return (
    [
      ['outbound', 'in'],
      ['inbound', 'out'],
    ] as const
  ).flatMap(([direction, theirs]) => {
    const ours = payments
      .filter((one) => one.direction === direction && one.rail !== 'onchain')
      .filter(({ status }) => status === 'completed')
      .map(({ hash }) => `${hash}`);
    const others = rows
      .filter((row) => row.direction === theirs && row.state === 'completed' && !isBetween(row))
      .map(({ hash }) => `${hash}`);
    // A small payment may go down with its channel, so that the payer knows no end of it.
    const unknown = rows.filter(({ state, cut }) => state === 'failed' && cut);
    return [
      ...minus(others, [...ours, ...lost]).map(
        (hash) => `${direction} ${hash}: paid, and not shown as completed`,
      ),
      ...minus(ours, [...others, ...unknown.map(({ hash }) => `${hash}`)]).map((hash) => {
        const theirRows = rows.filter((row) => row.hash === hash).map(shortly);
        return `${direction} ${hash}: completed, and not paid so often: ${theirRows.join(' and ')}`;
      }),
    ];
  });
}

function shortly({ key, kind, state, reason, amount_msat }: LdkRow): string {
  return `${key} ${kind} ${state} ${reason} ${amount_msat} msat`;
}

/** The elements of one list that the other lacks, each as often as it lacks them. */
function minus(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return list.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

async function expectBudget(world: LdkKillWorld, payments: readonly PaymentJson[]): Promise<void> {
  const outbound = payments.filter(({ direction }) => direction === 'outbound');
  // Of what was lost the budget keeps the most that it may have cost.
  if (outbound.some(isLost)) return;
  const costMsat = outbound.reduce((sum, one) => sum + costOf(one), 0n);
  const spent = async (client: Client) => {
    const { budget } = await world.sidecar.get('/v2/node/client_info', {}, client.credentials);
    return msat(budget.spent);
  };
  const reserved = () =>
    rowsOf(world.dataDir, 'sidecar', 'SELECT idx FROM spending WHERE NOT settled');
  await eventually(async () => (await spent(world.payments)) === costMsat);
  const spentMsat = await spent(world.payments);
  if (spentMsat !== costMsat) throw new Error(`the budget has ${spentMsat}, not ${costMsat} msat`);
  requireNone(
    'reservations left',
    reserved().map(({ idx }) => `${idx}`),
  );
}

/** The wallet shows each coin that the chain has for it, and no other. */
async function expectCoins(world: LdkKillWorld): Promise<void> {
  let coins = await world.coins();
  await eventually(async () => {
    coins = await world.coins();
    return coins.thereSat === coins.saidSat;
  });
  if (coins.thereSat === coins.saidSat) return;
  throw new Error(
    `the chain has ${coins.thereSat} sat of the wallet, and it says ${coins.saidSat}`,
  );
}

/** The balance is what it was, with what came and went. A closing may cost the wallet something that no row tells. */
async function expectBalance(
  world: LdkKillWorld,
  payments: readonly PaymentJson[],
  closed: number,
): Promise<void> {
  const dueMsat = payments.reduce((sum, one) => sum + movedMsat(one), 0n);
  // Below a channel's reserve a balance is in whole satoshis.
  const lostMsat = payments.filter(isLost).reduce((sum, one) => sum + msat(one.amount ?? '0'), 0n);
  const leastMsat = dueMsat - lostMsat - BigInt(closed) * CLOSING_MSAT - 10_000n;
  const isRight = (nowMsat: bigint) => nowMsat <= dueMsat + 10_000n && nowMsat >= leastMsat;
  await eventually(async () => isRight(await world.balanceMsat()));
  const nowMsat = await world.balanceMsat();
  if (isRight(nowMsat)) return;
  throw new Error(`the wallet has ${nowMsat} msat, and its payments come to ${dueMsat}`);
}

function movedMsat(payment: PaymentJson): bigint {
  const { direction, status, amount, fees } = payment;
  if (status !== 'completed') return 0n;
  if (direction === 'inbound') return msat(amount ?? '0');
  return direction === 'outbound' ? -costOf(payment) : -msat(fees);
}

/** Checks the node's own rows after it has stopped: each payment is there once and as it was shown, and none is open. */
export function expectOwnState({ dataDir }: LdkKillWorld, payments: readonly PaymentJson[]): void {
  const db = new Database(join(dataDir, 'ldk', 'regtest', 'state.sqlite'), { readonly: true });
  try {
    const rows = db
      .query(
        "SELECT hash, direction, state FROM rows WHERE state NOT IN ('open') AND reason IS NOT 'never sent'",
      )
      .all() as { hash: string; direction: string; state: string }[];
    const under = rows.filter(({ state }) => state !== 'completed' && state !== 'failed');
    requireNone(
      'rows under way',
      under.map((row) => JSON.stringify(row)),
    );
    const completed = (direction: string) =>
      rows.filter((row) => row.direction === direction && row.state === 'completed');
    for (const [ours, direction] of [
      ['outbound', 'out'],
      ['inbound', 'in'],
    ] as const) {
      const shown = payments
        .filter((one) => one.direction === ours && one.status === 'completed')
        .filter(({ rail }) => rail !== 'onchain')
        .map(({ hash }) => `${hash}`);
      const own = completed(direction).map(({ hash }) => hash);
      requireNone(`${ours} rows that are not shown`, minus(own, shown));
      requireNone(`${ours} payments without a row`, minus(shown, own));
    }
  } finally {
    db.close();
  }
}

function requireNone(what: string, list: readonly string[]): void {
  if (list.length > 0) throw new Error(`${what}: ${list.join('; ')}`);
}
