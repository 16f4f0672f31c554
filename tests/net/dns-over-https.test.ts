import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import { createTxtResolver, type ResolveTxt } from '../../src/net/txt-resolver.ts';
import {
  answerBytes,
  longTxtData,
  nameBytes,
  questionOf,
  type ServedRecord,
  TYPES,
} from '../support/dns-writer.ts';
import {
  type OutsideService,
  openClosingService,
  openOutsideService,
  TEST_CERTIFICATE,
} from '../support/outside-service.ts';
import { rejection } from '../support/rejection.ts';
import { openSignedTree, type SignedTree } from '../support/signed-tree.ts';
import { makeKey } from '../support/zone-keys.ts';
import { flipped } from './dnssec/prove.ts';

const LIMIT_MS = 60_000;
const NAME = 'matt.user._bitcoin-payment.example.com';
const NOW = 1_800_000_000;

let answer: (request: Request) => Response | Promise<Response>;
let resolver: OutsideService;
let tree: SignedTree;
let url: string;
let nowMs: number;
/** The product's resolver, which trusts the root of the tree; each test has a new one. */
let resolveTxt: ResolveTxt;

beforeAll(() => {
  resolver = openOutsideService((request) => answer(request));
  url = `https://127.0.0.1:${resolver.port}/dns-query?ct=x`;
});
afterAll(() => resolver.close());
beforeEach(() => {
  tree = openSignedTree({ nowSecs: NOW });
  tree.zone('com');
  tree.zone('example.com');
  tree.txt(NAME, ['x']);
  nowMs = NOW * 1000;
  answer = tree.answer;
  resolveTxt = resolverFor();
});

const resolverFor = (options: Partial<Parameters<typeof createTxtResolver>[0]> = {}) =>
  createTxtResolver({
    url,
    ca: TEST_CERTIFICATE,
    anchors: tree.anchors,
    clock: { now: () => nowMs },
    timeoutMs: 30_000,
    ...options,
  });

async function textsOf(name: string): Promise<readonly string[] | null> {
  const texts = await resolveTxt(name);
  return texts?.map((bytes) => Buffer.from(bytes).toString()) ?? null;
}

async function expectError113(
  work: Promise<unknown>,
  message: RegExp,
  problem = 'unusable_answer',
): Promise<void> {
  const error = await rejection(work);
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 113, data: { problem } });
  expect(error.message).toMatch(message);
}

/** Answers as the tree does, except for questions for TXT records. */
function answerTxt(to: (question: { name: string; type: number }) => Response): void {
  answer = (request) => {
    const question = questionOf(request);
    return question.type === TYPES.TXT ? to(question) : tree.answer(request);
  };
}
const message = (bytes: Uint8Array | string, type = 'application/dns-message', status = 200) =>
  new Response(typeof bytes === 'string' ? bytes : new Uint8Array(bytes), {
    status,
    headers: { 'content-type': type },
  });

describe('the resolver', () => {
  test('is asked over https in wire form (RFC 8484), with what its URL already holds, for one chain', async () => {
    const asked: string[] = [];
    answer = (request) => {
      const { searchParams } = new URL(request.url);
      expect([...searchParams.keys()]).toEqual(['ct', 'dns']);
      expect(request.method).toBe('GET');
      expect(request.headers.get('accept')).toBe('application/dns-message');
      const { name, type } = questionOf(request);
      asked.push(`${name} ${type}`);
      return tree.answer(request);
    };
    expect(await textsOf(NAME)).toEqual(['x']);
    const zones = ['com', 'example.com'].flatMap((zone) => [
      `${zone} ${TYPES.DS}`,
      `${zone} ${TYPES.DNSKEY}`,
    ]);
    expect(asked.toSorted()).toEqual(
      [`${NAME} ${TYPES.TXT}`, ` ${TYPES.DNSKEY}`, ...zones].toSorted(),
    );
  });

  test('is asked over at most two connections, which no other look-up uses', async () => {
    const connections = new Set<number>();
    let questions = 0;
    const counting = openOutsideService((request, server) => {
      questions += 1;
      connections.add(server.requestIP(request)?.port ?? 0);
      return tree.answer(request);
    });
    try {
      resolveTxt = resolverFor({ url: `https://127.0.0.1:${counting.port}/dns-query` });
      await textsOf(NAME);
      expect(questions).toBe(6);
      expect(connections.size).toBeLessThanOrEqual(2);
      const earlier = new Set(connections);
      connections.clear();
      expect(await textsOf('nothing.example.com')).toBeNull();
      expect(connections.isDisjointFrom(earlier)).toBe(true);
    } finally {
      await counting.close();
    }
  });

  test('may close a connection after its answer without saying so', async () => {
    const closing = openClosingService(tree.answer);
    try {
      resolveTxt = resolverFor({ url: `https://127.0.0.1:${closing.port}/dns-query` });
      expect(await textsOf(NAME)).toEqual(['x']);
    } finally {
      closing.stop(true);
    }
  });

  test('must be an https URL, or it is not opened at all', () => {
    for (const bad of ['http://127.0.0.1/dns-query', 'ftp://x/', 'x', '']) {
      expect(() => resolverFor({ url: bad })).toThrow(/must be an https URL/);
    }
  });

  test('must show a certificate that is trusted', async () => {
    const { anchors } = tree;
    const trusting = createTxtResolver({ url, anchors, clock: { now: () => nowMs } });
    await expectError113(trusting(NAME), /cannot be reached/, 'unreachable');
  });

  test('that cannot be reached or does not answer in time is error 113', async () => {
    const dead = resolverFor({ url: 'https://127.0.0.1:1/' });
    await expectError113(dead(NAME), /cannot be reached/, 'unreachable');
    const waiting = Promise.withResolvers<Response>();
    answer = () => waiting.promise;
    const slow = resolverFor({ timeoutMs: 300 });
    await expectError113(slow(NAME), /cannot be reached/, 'timed_out');
    waiting.resolve(new Response());
  });

  test('that stops to answer in the middle of a chain is error 113, by one time limit for all', async () => {
    const waiting = Promise.withResolvers<Response>();
    answer = (request) =>
      questionOf(request).type === TYPES.DS ? waiting.promise : tree.answer(request);
    await expectError113(resolverFor({ timeoutMs: 1000 })(NAME), /cannot be reached/, 'timed_out');
    waiting.resolve(new Response());
  });

  test(
    'that answers with another status, media type, a redirect, compressed or too much is error 113',
    async () => {
      const type = 'application/dns-message';
      const good = () => answerBytes({ name: NAME, type: TYPES.TXT }, tree.served(NAME, TYPES.TXT));
      const answers = [
        () => message(good(), type, 400),
        () => message(good(), type, 500),
        () => message(good(), 'text/html'),
        () => message(good(), 'application/dns-json'),
        () => new Response(new Uint8Array(good())),
        () => Response.redirect('/elsewhere'),
        () =>
          new Response(Bun.gzipSync(new Uint8Array(good())), {
            headers: { 'content-type': type, 'content-encoding': 'gzip' },
          }),
        () => message(Buffer.concat([good(), Buffer.alloc(128 * 1024)])),
        () => message(Buffer.concat([good(), Buffer.alloc(1)])),
        () => message(''),
        () => message('{"Status":0}'),
      ];
      for (const one of answers) {
        answerTxt(one);
        await expectError113(resolveTxt(NAME), /resolver|cannot be used/);
      }
      answerTxt(() => message(good(), 'Application/DNS-Message; x=1'));
      expect(await textsOf(NAME)).toEqual(['x']);
    },
    LIMIT_MS,
  );
});

describe('an answer', () => {
  test('of status NOERROR and NXDOMAIN without the record has none, and every other status is error 113', async () => {
    expect(await textsOf('none.example.com')).toBeNull();
    answerTxt((question) => message(answerBytes(question, [], { flags: 0x8183 })));
    expect(await textsOf(NAME)).toBeNull();
    for (const code of [1, 2, 4, 5, 9]) {
      const records = tree.served(NAME, TYPES.TXT);
      answerTxt((question) => message(answerBytes(question, records, { flags: 0x8180 | code })));
      await expectError113(resolveTxt(NAME), /failed to look up matt\.user/);
    }
  });

  test('to another question is error 113; case does not matter', async () => {
    const type = TYPES.TXT;
    const records = tree.served(NAME, type);
    const others = [
      [],
      [{ name: 'eve.user._bitcoin-payment.example.com', type }],
      [{ name: `${NAME}.evil.example`, type }],
      [{ name: NAME, type: 1 }],
      [
        { name: NAME, type },
        { name: NAME, type },
      ],
    ];
    for (const questions of others) {
      answerTxt((question) => message(answerBytes(question, records, { questions })));
      await expectError113(resolveTxt(NAME), /another question/);
    }
    const questions = [{ name: NAME.toUpperCase(), type }];
    answerTxt((question) => message(answerBytes(question, records, { questions })));
    expect(await textsOf(NAME)).toEqual(['x']);
  });

  test('that was cut short is error 113', async () => {
    const records = tree.served(NAME, TYPES.TXT);
    answerTxt((question) => message(answerBytes(question, records, { flags: 0x8380 })));
    await expectError113(resolveTxt(NAME), /cut its answer short/);
  });

  test('with a record that cannot be read is error 113', async () => {
    const data = Buffer.from([5, 0x61]);
    const bad = { name: NAME, type: TYPES.TXT, ttl: 60, data };
    tree.serve(NAME, TYPES.TXT, tree.signed([bad]));
    await expectError113(resolveTxt(NAME), /unreadable/);
    tree.serve(NAME, TYPES.TXT, [{ ...bad, type: TYPES.RRSIG }]);
    await expectError113(resolveTxt(NAME), /unreadable/);
  });

  test('that is not proven is error 113, whatever the resolver says of it (AD)', async () => {
    const [record] = tree.served(NAME, TYPES.TXT) as [ServedRecord];
    answerTxt((question) => message(answerBytes(question, [record], { flags: 0x81a0 })));
    await expectError113(resolveTxt(NAME), /not secured by DNSSEC.*another way to pay/);
  });
});

describe('the work for a name is bounded', () => {
  test('to 32 questions', async () => {
    let questions = 0;
    answer = (request) => {
      questions += 1;
      return tree.answer(request);
    };
    let zone = 'com';
    for (let depth = 0; depth < 20; depth++) {
      zone = `z.${zone}`;
      tree.zone(zone);
    }
    tree.txt(`a.${zone}`, ['x']);
    await expectError113(resolveTxt(`a.${zone}`), /too many zones/);
    expect(questions).toBeLessThanOrEqual(32);
  });

  test('to 128 KiB of all answers together', async () => {
    const padding = Array.from({ length: 3 }, (_, at) => ({
      name: `${at}.example`,
      type: 99,
      ttl: 0,
      data: Buffer.alloc(16_000),
    }));
    for (const [zone, type] of [
      ['com', TYPES.DS],
      ['com', TYPES.DNSKEY],
      ['example.com', TYPES.DS],
    ] as const) {
      tree.serve(zone, type, [...tree.served(zone, type), ...padding]);
    }
    await expectError113(resolveTxt(NAME), /records that prove the name are too large/);
  });

  test('to 8 signatures of a record, however many are in the answer', async () => {
    const [record, signature] = tree.served(NAME, TYPES.TXT) as [ServedRecord, ServedRecord];
    const bad = Array.from({ length: 8 }, (_, at) => flipped(signature, -1 - at));
    tree.serve(NAME, TYPES.TXT, [record, ...bad.slice(1), signature]);
    expect(await textsOf(NAME)).toEqual(['x']);
    resolveTxt = resolverFor();
    tree.serve(NAME, TYPES.TXT, [record, ...bad, signature]);
    await expectError113(resolveTxt(NAME), /is wrong/);
  });

  test('to 16 denials of a wildcard', async () => {
    const name = 'a.example.com';
    const expanded = tree.signed([{ name, type: TYPES.TXT, ttl: 60, data: longTxtData('x') }], {
      signedName: '*.example.com',
    });
    const type = TYPES.NSEC;
    const next = nameBytes('b.example.com');
    const useless = Array.from({ length: 16 }, (_, at) =>
      tree.signed([
        { name: `x${at}.example.com`, type, ttl: 60, data: nameBytes('z.example.com') },
      ]),
    );
    const denial = tree.signed([{ name: '*.example.com', type, ttl: 60, data: next }]);
    tree.serve(name, TYPES.TXT, [...expanded, ...useless.slice(1).flat(), ...denial]);
    expect(await textsOf(name)).toEqual(['x']);
    resolveTxt = resolverFor();
    tree.serve(name, TYPES.TXT, [...expanded, ...useless.flat(), ...denial]);
    await expectError113(resolveTxt(name), /from a wildcard, without proof/);
  });

  test('to 100 checks in all, though many keys have one tag (CVE-2023-50387)', async () => {
    const many = 150;
    // A word that overflows would change the tag.
    let ksk = makeKey();
    while (ksk.data.readUInt16BE(4) + many > 65536 || ksk.data.readUInt16BE(6) < many)
      ksk = makeKey();
    tree.zone('example.com', { ksk });
    tree.txt(NAME, ['x']);
    const keys = tree.served('example.com', TYPES.DNSKEY);
    const sameTag = Array.from({ length: many }, (_, at) => {
      const [key] = keys as [ServedRecord];
      const data = Buffer.from(key.data);
      // The key tag is a sum: what one word adds, the next one subtracts.
      data.writeUInt16BE(data.readUInt16BE(4) + at, 4);
      data.writeUInt16BE(data.readUInt16BE(6) - at, 6);
      return { ...key, data };
    });
    tree.serve('example.com', TYPES.DNSKEY, [...sameTag, ...keys]);
    await expectError113(resolveTxt(NAME), /too much work/);
  });
});

describe('a proven record is kept', () => {
  test('for as long as the lowest signed TTL, and not when the clock goes back', async () => {
    let questions = 0;
    answer = (request) => {
      questions += 1;
      return tree.answer(request);
    };
    const asks = async (atMs: number): Promise<boolean> => {
      questions = 0;
      nowMs = atMs;
      expect(await textsOf(NAME)).toEqual(['x']);
      return questions > 0;
    };
    const start = NOW * 1000;
    expect(await asks(start)).toBe(true);
    expect(await asks(start + 59_999)).toBe(false);
    expect(await asks(start + 60_000)).toBe(true);
    expect(await asks(start + 59_999)).toBe(true);
    tree.zone('example.com', { ttl: 86_400 });
    tree.txt(NAME, ['x'], 86_400);
    expect(await asks(start + 120_000)).toBe(true);
    expect(await asks(start + 120_000 + 299_999)).toBe(false);
    expect(await asks(start + 120_000 + 300_000)).toBe(true);
  });

  test('for an hour at most', async () => {
    tree = openSignedTree({ nowSecs: NOW, rootTtl: 86_400 });
    tree.zone('com', { ttl: 86_400 });
    resolveTxt = resolverFor();
    answer = tree.answer;
    tree.txt('a.com', ['old'], 86_400);
    expect(await textsOf('a.com')).toEqual(['old']);
    tree.txt('a.com', ['new'], 86_400);
    nowMs += 3_599_999;
    expect(await textsOf('a.com')).toEqual(['old']);
    nowMs += 1;
    expect(await textsOf('a.com')).toEqual(['new']);
  });

  test('by its name alone, and a name without a record is asked for again', async () => {
    tree.txt('other.example.com', ['other']);
    expect(await textsOf(NAME)).toEqual(['x']);
    expect(await textsOf('other.example.com')).toEqual(['other']);
    expect(await textsOf('new.example.com')).toBeNull();
    tree.txt('new.example.com', ['new']);
    expect(await textsOf('new.example.com')).toEqual(['new']);
  });

  test(
    'for 64 names at most',
    async () => {
      let questions = 0;
      for (let at = 0; at <= 64; at++) tree.txt(`n${at}.example.com`, [`${at}`]);
      for (let at = 0; at <= 64; at++) await textsOf(`n${at}.example.com`);
      answer = (request) => {
        questions += 1;
        return tree.answer(request);
      };
      await textsOf('n1.example.com');
      expect(questions).toBe(0);
      await textsOf('n0.example.com');
      expect(questions).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});

test('an alias that does not fit a name is error 113', async () => {
  const name = 'com';
  const long = `${'a'.repeat(60)}.`.repeat(3);
  const data = nameBytes(`${long}${'b'.repeat(40)}`);
  tree.serve(NAME, TYPES.TXT, tree.signed([{ name, type: TYPES.DNAME, ttl: 60, data }]));
  await expectError113(resolveTxt(NAME), /unreadable/);
});
