import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import type { ApiError } from '../../../src/model/errors.ts';
import { ClnRpc } from '../../../src/nodes/cln/reads/rpc.ts';
import { anyRefusal, refusesToPay } from '../../../src/nodes/cln/words/certainty.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { FakeCln, refusal } from './fake-cln.ts';

const METHOD = 'thing';
const shape = z.object({ ok: z.boolean() });

let cln: FakeCln;
let rpc: ClnRpc;
let contacts: unknown[];
let rejections: number;
beforeEach(() => {
  cln = new FakeCln();
  contacts = [];
  rejections = 0;
  rpc = new ClnRpc(
    { endpoint: new RemoteEndpoint({ url: cln.url, cert: cln.cert }), token: () => 'a-rune' },
    {
      contact: (standing) => void contacts.push(standing),
      rejected: () => {
        rejections += 1;
      },
    },
  );
});
afterEach(() => cln.stop());

const caught = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: ApiError) => error,
  );
const signal = AbortSignal.timeout(60_000);
const page = () => new Response('<html>502 Bad Gateway</html>', { status: 502 });

const READS = {
  read: () => rpc.read(METHOD, {}, shape),
  list: () => rpc.list(METHOD, {}, shape),
  poll: () => rpc.poll(METHOD, {}, shape, signal),
  'a write that moves no money': () => rpc.write(METHOD, {}, shape),
} as const;
const SPENDS = {
  write: () => rpc.write(METHOD, {}, shape, { certainty: anyRefusal }),
  begin: () => rpc.begin(METHOD, {}, shape, { certainty: anyRefusal, signal }),
} as const;

describe('an answer that is none of the node', () => {
  for (const [name, answer] of [
    ["a proxy's page", page],
    ['an error without a code', () => refusal(null, 'no socket')],
    [
      'an error whose code is no number',
      () => Response.json({ code: '205', message: 'no' }, { status: 500 }),
    ],
    ['another form', () => Response.json({ ok: 'perhaps' }, { status: 201 })],
  ] as const) {
    for (const [call, ask] of Object.entries(READS)) {
      test(`(${name}) leaves nothing open after ${call}`, async () => {
        cln.on(METHOD, answer);
        expect((await caught(ask()))?.outcomeUnknown).toBe(false);
      });
    }
    for (const [call, ask] of Object.entries(SPENDS)) {
      test(`(${name}) leaves open whether it was done after ${call} that moves money`, async () => {
        cln.on(METHOD, answer);
        expect((await caught(ask()))?.outcomeUnknown).toBe(true);
        expect(cln.of(METHOD)).toHaveLength(1);
      });
    }
  }
});

test('an error of the node is judged by the rule of the call', async () => {
  const outcomes = async (code: number) => {
    cln.on(METHOD, () => refusal(code, 'it failed'));
    const certain = { certainty: refusesToPay };
    return [
      (await caught(rpc.write(METHOD, {}, shape, certain)))?.outcomeUnknown,
      (await caught(rpc.begin(METHOD, {}, shape, { ...certain, signal })))?.outcomeUnknown,
      (await caught(rpc.read(METHOD, {}, shape)))?.outcomeUnknown,
    ];
  };
  expect(await outcomes(205)).toEqual([false, false, false]);
  expect(await outcomes(209)).toEqual([true, true, false]);
});

test('clnrest that cannot ask the node is a node that is silent, and every other error one that is open', async () => {
  cln.on(METHOD, () => refusal(null, 'no socket'));
  await caught(rpc.read(METHOD, {}, shape));
  expect(contacts.at(-1)).toBe('silent');
  cln.on(METHOD, () => refusal(-1, 'it failed'));
  await caught(rpc.read(METHOD, {}, shape));
  expect(contacts.at(-1)).toBe('open');
});

test('a rune is rejected by the errors that say so alone', async () => {
  for (const [code, count] of [
    [-1, 0],
    [1502, 0],
    [1503, 1],
    [1501, 2],
  ] as const) {
    cln.on(METHOD, () => refusal(code, 'it failed', 401));
    await caught(rpc.read(METHOD, {}, shape));
    expect([code, rejections]).toEqual([code, count]);
  }
});
