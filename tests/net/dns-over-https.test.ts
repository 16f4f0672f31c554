import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import { createNameResolver } from '../../src/net/bip353.ts';
import { createTxtResolver, type ResolveTxt } from '../../src/net/dns-over-https.ts';
import {
  failureOf,
  type OutsideService,
  openOutsideService,
  TEST_CERTIFICATE,
} from './outside-service.ts';

const LIMIT_MS = 60_000;
const NAME = 'matt.user._bitcoin-payment.example.com';
const TXT = 16;
const CNAME = 5;
const DNAME = 39;

let answer: (request: Request) => Response | Promise<Response>;
let resolver: OutsideService;
let resolveTxt: ResolveTxt;
let url: string;

beforeAll(() => {
  resolver = openOutsideService((request) => answer(request));
  url = `https://127.0.0.1:${resolver.port}/dns-query?ct=json`;
  resolveTxt = createTxtResolver({ url, ca: TEST_CERTIFICATE, timeoutMs: 30_000 });
});
afterAll(() => resolver.close());

interface Reply {
  readonly Status: number;
  readonly TC?: boolean;
  readonly AD: boolean;
  readonly Question: readonly object[];
  readonly Answer?: readonly object[];
}

const record = (name: string, type: number, data: string) => ({ name, type, TTL: 60, data });
const txt = (...texts: string[]): Reply =>
  reply(texts.map((text) => record(`${NAME}.`, TXT, `"${text}"`)));
const reply = (records: readonly object[]): Reply => ({
  Status: 0,
  TC: false,
  AD: true,
  Question: [{ name: `${NAME}.`, type: TXT }],
  Answer: records,
});
/** What the resolver makes of an answer. */
const resolve = (body: unknown) => {
  answer = () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), {
      headers: { 'content-type': 'application/dns-json' },
    });
  return resolveTxt(NAME);
};

async function expectError113(
  work: Promise<unknown>,
  message: RegExp,
  problem = 'unusable_answer',
): Promise<void> {
  const error = await failureOf(work);
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 113, data: { problem } });
  expect(error.message).toMatch(message);
}

describe('the resolver', () => {
  test('is asked for the TXT records of the name, over https, with what its URL already holds', async () => {
    const asked: { url: URL; accept: string | null }[] = [];
    answer = ({ url: target, headers }) => {
      asked.push({ url: new URL(target), accept: headers.get('accept') });
      return Response.json(txt('x'));
    };
    expect(await resolveTxt(NAME)).toEqual(['x']);
    const [question] = asked;
    expect([...(question?.url.searchParams ?? [])]).toEqual([
      ['ct', 'json'],
      ['name', NAME],
      ['type', 'TXT'],
      ['do', '1'],
    ]);
    expect(question?.accept).toBe('application/dns-json');
    expect(asked.length).toBe(1);
  });

  test('must be an https URL, or it is not opened at all', () => {
    for (const bad of ['http://127.0.0.1/dns-query', 'ftp://x/', 'x', '']) {
      expect(() => createTxtResolver({ url: bad })).toThrow(/must be an https URL/);
    }
  });

  test('must show a certificate that is trusted', async () => {
    answer = () => Response.json(txt('x'));
    const trusting = createTxtResolver({ url, timeoutMs: 30_000 });
    await expectError113(trusting(NAME), /cannot be reached/, 'unreachable');
  });

  test('that cannot be reached or does not answer in time is error 113', async () => {
    const dead = createTxtResolver({ url: 'https://127.0.0.1:1/', timeoutMs: 30_000 });
    await expectError113(dead(NAME), /cannot be reached/, 'unreachable');
    const waiting = Promise.withResolvers<Response>();
    answer = () => waiting.promise;
    const slow = createTxtResolver({ url, ca: TEST_CERTIFICATE, timeoutMs: 300 });
    await expectError113(slow(NAME), /cannot be reached/, 'timed_out');
    waiting.resolve(new Response());
  });

  test(
    'that answers with another status, media type, a redirect, compressed or too much is error 113',
    async () => {
      const body = JSON.stringify(txt('x'));
      const headers = { 'content-type': 'application/dns-json' };
      const answers = [
        () => new Response(body, { status: 400, headers }),
        () => new Response(body, { status: 500, headers }),
        () => new Response(body, { headers: { 'content-type': 'text/html' } }),
        () => new Response(body, { headers: { 'content-type': 'application/dns-message' } }),
        () => new Response(new TextEncoder().encode(body)),
        () => Response.redirect('/elsewhere'),
        () =>
          new Response(Bun.gzipSync(body), { headers: { ...headers, 'content-encoding': 'gzip' } }),
        () => new Response(body.padEnd(64 * 1024 + 1), { headers }),
        () => new Response(`${body}x`, { headers }),
        () => new Response('', { headers }),
      ];
      for (const one of answers) {
        answer = one;
        await expectError113(resolveTxt(NAME), /resolver|cannot be used/);
      }
      answer = () => new Response(body, { headers: { 'content-type': 'Application/JSON; x=1' } });
      expect(await resolveTxt(NAME)).toEqual(['x']);
    },
    LIMIT_MS,
  );
});

describe('an answer', () => {
  test('of status NOERROR has the records, NXDOMAIN none, and every other is error 113', async () => {
    expect(await resolve(txt('x'))).toEqual(['x']);
    expect(await resolve({ ...txt(), Status: 3 })).toBeNull();
    expect(await resolve(txt())).toBeNull();
    for (const Status of [1, 2, 4, 5, 9, 23, -1]) {
      await expectError113(resolve({ ...txt('x'), Status }), /failed to look up/);
    }
  });

  test('that is not validated with DNSSEC is error 113', async () => {
    await expectError113(resolve({ ...txt('x'), AD: false }), /DNSSEC/);
    await expectError113(resolve({ ...txt('x'), AD: undefined }), /DNSSEC/);
  });

  test('to another question is error 113; case and the final dot of the name do not matter', async () => {
    const others = [
      [],
      [{ name: 'eve.user._bitcoin-payment.example.com.', type: TXT }],
      [{ name: `${NAME}.evil.example.`, type: TXT }],
      [{ name: `${NAME}.`, type: 1 }],
      [...txt().Question, ...txt().Question],
      undefined,
    ];
    for (const Question of others) {
      await expectError113(resolve({ ...txt('x'), Question }), /another question/);
      await expectError113(resolve({ ...txt(), Status: 3, Question }), /another question/);
    }
    for (const name of [NAME, NAME.toUpperCase(), `${NAME.toUpperCase()}.`]) {
      const same = reply([record(name, TXT, '"x"')]);
      expect(await resolve({ ...same, Question: [{ name, type: TXT }] })).toEqual(['x']);
    }
  });

  test('that is no DNS answer, or was cut short, is error 113', async () => {
    const bad = [
      'null',
      '[]',
      '{}',
      { ...txt('x'), Status: '0' },
      { ...txt('x'), TC: true },
      { ...txt('x'), Answer: {} },
      { ...txt('x'), Answer: [null] },
      reply([{ type: TXT, data: '"x"' }]),
      reply([record(NAME, TXT, '"x'), record(NAME, TXT, '"y"')]),
    ];
    for (const one of bad) await expectError113(resolve(one), /unreadable/);
  });
});

describe('records', () => {
  test('of other names and types are ignored', async () => {
    const records = [
      record('eve.user._bitcoin-payment.example.com.', TXT, '"eve"'),
      record('example.com.', TXT, '"apex"'),
      record(`x.${NAME}.`, TXT, '"below"'),
      record(`${NAME}.`, 46, 'txt 13 5 60 signature'),
      record(`${NAME}.`, 1, '192.0.2.1'),
    ];
    expect(await resolve(reply(records))).toBeNull();
    expect(await resolve(reply([...records, record(`${NAME}.`, TXT, '"own"')]))).toEqual(['own']);
  });

  test('have their strings joined with nothing between, each record for itself', async () => {
    const records = [record(NAME, TXT, '"a" "b c"   "d"'), record(NAME, TXT, '"e"')];
    expect(await resolve(reply(records))).toEqual(['ab cd', 'e']);
    expect(await resolve(reply([record(NAME, TXT, 'not quoted "at all"')]))).toEqual([
      'not quoted "at all"',
    ]);
    const long = 'x'.repeat(60_000);
    expect(await resolve(reply([record(NAME, TXT, `"${long}"`)]))).toEqual([long]);
  });

  test('have their escapes read as bytes of UTF-8, also across two strings', async () => {
    const cases = [
      ['"a\\"b\\\\c\\;"', 'a"b\\c;'],
      ['"\\226\\130\\191"', '₿'],
      ['"\\226\\130" "\\191x"', '₿x'],
      ['"₿"', '₿'],
      ['"\\0490"', '10'],
    ] as const;
    for (const [data, text] of cases) {
      expect(await resolve(reply([record(NAME, TXT, data)]))).toEqual([text]);
    }
  });

  test('that are no text are error 113', async () => {
    for (const data of ['"\\300"', '"\\256"', '"\\255"', '"a\\"', '"a" b', '"a', '"\ud800"']) {
      await expectError113(resolve(reply([record(NAME, TXT, data)])), /unreadable/);
    }
  });
});

describe('aliases', () => {
  const to = (from: string, target: string) => record(from, CNAME, target);

  test('are followed inside the answer, in any order', async () => {
    const records = [
      record('pay.example.net.', TXT, '"x"'),
      to('alias.example.org.', 'PAY.example.net'),
      to(`${NAME.toUpperCase()}.`, 'alias.example.org.'),
    ];
    expect(await resolve(reply(records))).toEqual(['x']);
    expect(await resolve(reply(records.slice(1)))).toBeNull();
  });

  test('of a whole tree (DNAME) are followed too, and never for the name itself', async () => {
    const tree = record('_bitcoin-payment.example.com.', DNAME, 'pay.example.net.');
    const target = record('matt.user.pay.example.net.', TXT, '"x"');
    expect(await resolve(reply([tree, target]))).toEqual(['x']);
    const synthesized = to(NAME, 'matt.user.pay.example.net.');
    expect(await resolve(reply([tree, synthesized, target]))).toEqual(['x']);
    const own = [record(NAME, DNAME, 'pay.example.net.'), record('pay.example.net.', TXT, '"x"')];
    expect(await resolve(reply(own))).toBeNull();
    const notAbove = [
      record('payment.example.com.', DNAME, 'pay.example.net.'),
      record('matt.user._bitcoin-pay.example.net.', TXT, '"x"'),
    ];
    expect(await resolve(reply(notAbove))).toBeNull();
  });

  test('in a circle, too many, several of one name or beside a record are error 113', async () => {
    const circle = [to(NAME, 'a.example.'), to('a.example.', NAME)];
    await expectError113(resolve(reply(circle)), /circle/);
    await expectError113(resolve(reply([to(NAME, NAME)])), /circle/);
    const growing = record('com.', DNAME, 'x.com.');
    await expectError113(resolve(reply([growing])), /circle/);
    const chain = (length: number) => [
      to(NAME, '1.example.'),
      ...Array.from({ length: length - 1 }, (_, at) =>
        to(`${at + 1}.example.`, `${at + 2}.example.`),
      ),
      record(`${length}.example.`, TXT, '"x"'),
    ];
    expect(await resolve(reply(chain(8)))).toEqual(['x']);
    await expectError113(resolve(reply(chain(9))), /too many aliases/);
    const two = [to(NAME, 'a.example.'), to(NAME, 'b.example.')];
    await expectError113(resolve(reply(two)), /unreadable/);
    const beside = [to(NAME, 'a.example.'), record(NAME, TXT, '"x"')];
    await expectError113(resolve(reply(beside)), /both an alias and a record/);
  });
});

describe('Human Bitcoin Addresses (BIP 353)', () => {
  const ask = (body: unknown) => {
    const resolveName = createNameResolver({
      resolveTxt: () => resolve(body),
      localZone: () => null,
    });
    return resolveName({ username: 'matt', domain: 'example.com' });
  };

  test('resolve to the one record that begins with bitcoin:, in any case; other records are ignored', async () => {
    expect(await ask(txt('bitcoin:?lno=abc'))).toBe('bitcoin:?lno=abc');
    expect(await ask(txt('unrelated', ' bitcoin:x', 'BITCOIN:?lno=x'))).toBe('BITCOIN:?lno=x');
  });

  test('with more than one such record are error 113, also when they are the same', async () => {
    await expectError113(ask(txt('bitcoin:?lno=x', 'bitcoin:?lno=y')), /several/);
    await expectError113(ask(txt('bitcoin:?lno=x', 'BITCOIN:?lno=x')), /several/);
  });

  test('without a record are not found (107)', async () => {
    for (const body of [txt('other'), txt(), { ...txt(), Status: 3 }]) {
      const error = await failureOf(ask(body));
      expect((error as ApiError).body()).toMatchObject({ code: 107 });
    }
  });

  test('of this sidecar itself are resolved without a request, and hosts with a port never cause one', async () => {
    const resolveName = createNameResolver({
      resolveTxt: async () => Promise.reject(new Error('asked')),
      localZone: (dnsName) =>
        dnsName === 'me.user._bitcoin-payment.127.0.0.1:1' ? 'bitcoin:?lno=z' : null,
    });
    expect(await resolveName({ username: 'me', domain: '127.0.0.1:1' })).toBe('bitcoin:?lno=z');
    for (const domain of ['127.0.0.1:2', 'example.com:443', '[::1]']) {
      const error = await failureOf(resolveName({ username: 'me', domain }));
      expect((error as ApiError).body()).toMatchObject({ code: 107 });
    }
  });
});
