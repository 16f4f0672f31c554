import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { INVOICES } from '../../../src/nodes/cln/follow/followed-invoices.ts';
import { SENDS } from '../../../src/nodes/cln/follow/followed-sends.ts';
import { Told } from '../../../src/nodes/cln/follow/told.ts';
import { followWaits } from '../../../src/nodes/cln/follow/waits.ts';
import { until } from '../../support/until.ts';
import { FakeCln } from './fake-cln.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';

const HASH = 'ab'.repeat(32);

let cln: FakeCln;
let wallet: FakeWallet;
let woken: string[];
/** Ends each pause that a waiting request has begun. */
let pauses: (() => void)[];
let stop: AbortController;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  woken = [];
  pauses = [];
  stop = new AbortController();
  followWaits({
    rpc: rpcOf(cln),
    wallet,
    lists: [SENDS, INVOICES],
    start: {},
    signal: stop.signal,
    told: new Told(),
    woken: (speed) => void woken.push(speed),
    failed: () => undefined,
    pause: () => new Promise((resolve) => void pauses.push(resolve)),
  });
});
afterEach(async () => {
  stop.abort();
  for (const end of pauses) end();
  await cln.stop();
});
/** The numbers that were waited for in the order in which rows are made. */
const waitedFor = (list: string) =>
  cln
    .of('wait')
    .filter(({ subsystem, indexname }) => subsystem === list && indexname === 'created')
    .map(({ nextvalue }) => nextvalue);
const isWaiting = (list: string) => until(() => waitedFor(list).length > 0, `it waits for ${list}`);

describe('after a change for which nobody waits', () => {
  test('the node is asked again only after a pause, and then tells what came meanwhile', async () => {
    await isWaiting('invoices');
    cln.addInvoice();
    await until(() => pauses.length === 1, 'it pauses');
    for (let more = 0; more < 3; more++) cln.addInvoice();
    expect(waitedFor('invoices')).toEqual([1]);
    pauses[0]?.();
    await until(() => woken.length === 2, 'it was told');
    expect(waitedFor('invoices')).toEqual([1, 2]);
    expect(woken).toEqual(['soon', 'soon']);
  });
});

describe('a payment that was sent', () => {
  test('is read at once, since another program may have made it', async () => {
    await isWaiting('sendpays');
    cln.addPart({ payment_hash: HASH });
    await until(() => waitedFor('sendpays').length === 2, 'it waits again');
    expect(woken).toEqual(['now']);
  });

  test('is read soon while this process makes one, whose end it learns by itself', async () => {
    wallet.endings.begin(HASH);
    await isWaiting('sendpays');
    cln.addPart({ payment_hash: HASH });
    await until(() => pauses.length === 1, 'it pauses');
    expect([woken, waitedFor('sendpays')]).toEqual([['soon'], [1]]);
    wallet.endings.end(HASH);
    pauses[0]?.();
    cln.addPart({ payment_hash: HASH, partid: 2 });
    await until(() => woken.length === 2, 'it was told');
    expect(woken).toEqual(['soon', 'now']);
  });
});

test('a node whose numbers grow with every question is asked a hundred times, and again after a pause', async () => {
  let asked = 0;
  const racing = {
    poll: async (_: string, { subsystem, nextvalue }: { subsystem: string; nextvalue: number }) => {
      if (subsystem === 'sendpays') asked++;
      return { created: nextvalue, updated: nextvalue };
    },
  };
  const ended = new AbortController();
  const paused: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => void paused.push(resolve));
  followWaits({
    rpc: racing as unknown as ReturnType<typeof rpcOf>,
    wallet,
    lists: [{ ...SENDS, orders: { created: 'now' } }],
    start: {},
    signal: ended.signal,
    told: new Told(),
    woken: () => undefined,
    failed: () => undefined,
    pause,
  });
  await until(() => paused.length === 1, 'it pauses');
  expect(asked).toBe(100);
  paused[0]?.();
  await until(() => paused.length === 2, 'it pauses again');
  expect(asked).toBeGreaterThan(100);
  ended.abort();
  paused[1]?.();
});
