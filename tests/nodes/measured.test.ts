import { heapStats } from 'bun:jsc';
import { beforeEach, expect, test } from 'bun:test';
import { openMetrics } from '../../src/lib/metrics.ts';
import { ApiError, type ErrorName } from '../../src/model/errors.ts';
import { measuredNodes } from '../../src/nodes/measured.ts';
import type { NodeConnector, UpdatesOptions, WalletNode } from '../../src/nodes/node.ts';
import { parseExposition } from '../support/exposition.ts';
import { throwing } from '../support/rejection.ts';
import { updatesOptions } from '../support/updates-options.ts';

let metrics = openMetrics();
let nowMs = 0;
beforeEach(() => {
  metrics = openMetrics();
  nowMs = 0;
});

type Members = Partial<Record<keyof WalletNode, unknown>>;

/** A measured node with only the given members; any other call fails the test. */
async function measured(members: Members): Promise<WalletNode> {
  return (await measuredConnector(() => members)()).node;
}

/** Opens one measured node after another, each with the members that are then given. */
function measuredConnector(members: () => Members) {
  const unasked = () => Promise.reject(new Error('this was not to be called'));
  const connector = {
    connectConfigured: unasked,
    connectClient: unasked,
    connectOwner: unasked,
    signup: unasked,
    provision: unasked,
    connectRoot: async () => ({ userPk: 'ab', node: members() }),
  } as unknown as NodeConnector;
  const wrapped = measuredNodes(metrics, () => nowMs)(connector);
  return () => wrapped.connectRoot(new Uint8Array());
}

/** The number of calls by method, and the seconds that they took. */
async function calls(): Promise<Record<string, readonly [number, number]>> {
  const name = 'wallet_sidecar_node_call_duration_seconds';
  const series = parseExposition(await metrics.render()).get(name)?.series ?? new Map();
  const counted: Record<string, readonly [number, number]> = {};
  for (const [key, count] of series) {
    const method = /_count\{method="(.*)"\}$/.exec(key)?.[1];
    if (method === undefined || method === 'connectRoot' || count === 0) continue;
    counted[method] = [count, series.get(`${name}_sum{method="${method}"}`)];
  }
  return counted;
}

async function errors(): Promise<Record<string, number>> {
  const all = parseExposition(await metrics.render()).get('wallet_sidecar_node_errors_total');
  return Object.fromEntries(
    [...(all?.series ?? [])]
      .filter(([, count]) => count > 0)
      .map(([key, count]) => [key.split('"')[1] ?? '', count]),
  );
}

test('a call is timed until it has answered, under its own name, and answers what the node answers', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const node = await measured({ info: () => promise, payment: async (index: string) => index });
  const info = node.info();
  expect(info).toBe(promise as ReturnType<WalletNode['info']>);
  expect(await node.payment('one' as never)).toBe('one' as never);
  nowMs = 1_500;
  expect(await calls()).toEqual({ payment: [1, 0] });
  resolve({});
  await info;
  expect(await calls()).toEqual({ payment: [1, 0], info: [1, 1.5] });
});

test('groups are measured under their name, and the groups a node lacks stay missing', async () => {
  const node = await measured({ history: { tip: async () => null }, proofs: undefined });
  await node.history?.tip();
  expect(await calls()).toEqual({ 'history.tip': [1, 0] });
  expect(node.offers).toBeUndefined();
  expect(node.proofs).toBeUndefined();
});

test('a node that is an object of a class keeps its own state', async () => {
  class Node {
    readonly descriptor = { kind: 'made', network: 'regtest', nodePk: '02' };
    #asked = 0;
    get clock() {
      return { now: () => 7 };
    }
    async info() {
      return ++this.#asked;
    }
  }
  const node = await measured(new Node() as never);
  expect(await node.info()).toBe(1 as never);
  expect(await node.info()).toBe(2 as never);
  expect([node.descriptor.kind, node.clock.now()]).toEqual(['made', 7]);
});

test('a measured node takes no functions and no shapes of its own', async () => {
  const shared = { info: async () => ({}), tip: async () => null };
  const open = measuredConnector(() => ({ info: shared.info, history: { tip: shared.tip } }));
  const counts = () => {
    Bun.gc(true);
    const { Function: functions = 0, Structure: shapes = 0 } = heapStats().objectTypeCounts;
    return { functions, shapes };
  };
  await open();
  const before = counts();
  const nodes: unknown[] = [];
  while (nodes.length < 1000) nodes.push(await open());
  const after = counts();
  expect(nodes).toHaveLength(1000);
  expect(after.functions - before.functions).toBeLessThan(1000);
  expect(after.shapes - before.shapes).toBeLessThan(1000);
});

test('an error is counted by its code and thrown on as it is, whether at once or later', async () => {
  const error = (kind: ErrorName) => new ApiError(kind, 'It did not work: try again.');
  const [late, sync] = [error('unreachable'), error('refused')];
  const node = await measured({
    info: async () => Promise.reject(late),
    payment: () => {
      throw sync;
    },
    latestPayment: async () => Promise.reject(new TypeError('a bug')),
  });
  const caught = await Promise.allSettled([node.info(), node.latestPayment('x' as never)]);
  expect(caught[0]).toMatchObject({ status: 'rejected', reason: late });
  expect(caught[1]).toMatchObject({ status: 'rejected', reason: { message: 'a bug' } });
  expect(() => node.payment('x' as never)).toThrow(sync);
  expect(await errors()).toEqual({ '3': 1, '6': 1, '106': 1 });
  expect(Object.keys(await calls()).toSorted()).toEqual(['info', 'latestPayment', 'payment']);
});

test('a stream of updates passes as it is; that it broke is counted, that it was left is not', async () => {
  let closed = 0;
  const node = await measured({
    async *updates({ after }: UpdatesOptions) {
      try {
        yield { observations: [], cursor: after, caughtUp: true };
        throw new ApiError('unreachable', 'The node went away: try again.');
      } finally {
        closed++;
      }
    },
  });
  const options = updatesOptions({ after: 'c1' });
  for await (const batch of node.updates(options)) {
    expect(batch).toEqual({ observations: [], cursor: 'c1', caughtUp: true });
    break;
  }
  expect([closed, await errors()]).toEqual([1, {}]);
  const broken = Array.fromAsync(node.updates(options));
  expect(await throwing(broken)).toThrow('The node went away');
  expect([closed, await errors()]).toEqual([2, { '3': 1 }]);
});
