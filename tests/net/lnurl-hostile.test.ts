import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import {
  createLnurlClient,
  type LnurlClient,
  type LnurlPayRequest,
  type LnurlWithdrawRequest,
} from '../../src/net/lnurl.ts';
import { type OutsideService, openOutsideService } from '../support/outside-service.ts';
import { rejection } from '../support/rejection.ts';

const LIMIT_MS = 60_000;
const TERMS = {
  tag: 'payRequest',
  callback: 'https://shop.example/cb',
  minSendable: 1000,
  maxSendable: 5000,
  metadata: '[["text/plain","Shop"]]',
  commentAllowed: 0,
};
const VOUCHER = {
  tag: 'withdrawRequest',
  callback: 'https://shop.example/cb',
  k1: 'k1',
  defaultDescription: 'Refund',
  minWithdrawable: 1000,
  maxWithdrawable: 5000,
};
const SURROGATE = '\ud800';
/** JSON that is nested too deeply for a recursive reader. */
const DEEP = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
/** Values of every JSON type except string. */
const NO_STRINGS: readonly unknown[] = [null, 7, true, [], {}, ['x'], { toString: 1 }];

/** The next answer of the service. */
let answer: () => Response;
let service: OutsideService;
let client: LnurlClient;

beforeAll(() => {
  service = openOutsideService(() => answer());
  client = createLnurlClient(service.fetchJson);
});
afterAll(() => service.close());

/** A reply as text: JSON text may hold parts that no object can hold, such as duplicate names and `__proto__`. */
const say = (reply: unknown) => {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  answer = () => new Response(text, { headers: { 'content-type': 'application/json' } });
};
const discover = (reply: unknown) => {
  say(reply);
  return client.discover(`${service.origin}/`);
};

async function expectError113(work: Promise<unknown>): Promise<ApiError> {
  const error = await rejection(work);
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 113, data: { problem: 'unusable_answer' } });
  expect(error.message).not.toMatch(/\p{C}/u);
  expect(error.message.length).toBeLessThan(250);
  return error;
}

const badUrls = [
  'x',
  '',
  '//shop.example/cb',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'ftp://shop.example/cb',
  'https://user:password@shop.example/cb',
  'https://user@shop.example/cb',
  'https://[::1/cb',
  `https://shop.example/${SURROGATE}`,
  `https://shop.example/${'x'.repeat(9_000)}`,
];
const badNumbers = [-1, 1.5, '1000', null, [], {}, true];
const ofBoth = (field: string, values: readonly unknown[]) =>
  [TERMS, VOUCHER].flatMap((terms) => values.map((value) => ({ ...terms, [field]: value })));
const without = (terms: object, field: string) =>
  Object.fromEntries(Object.entries(terms).filter(([name]) => name !== field));

/** Answers to the first request that must all end in error 113, by the rule they break. */
const REPLIES: readonly (readonly [rule: string, replies: readonly unknown[]])[] = [
  ['a reply that is not an object', ['null', '[]', '7', '"x"', 'true', '[[{}]]', DEEP]],
  ['a tag that is not a known string', ofBoth('tag', [...NO_STRINGS, SURROGATE, '', 'x'])],
  ['a callback that is not a string', ofBoth('callback', NO_STRINGS)],
  ['a callback that cannot be asked', ofBoth('callback', badUrls)],
  [
    'a field that is missing',
    [
      ...['tag', 'callback', 'minSendable', 'maxSendable', 'metadata'].map((field) =>
        without(TERMS, field),
      ),
      ...['tag', 'callback', 'k1', 'minWithdrawable', 'maxWithdrawable'].map((field) =>
        without(VOUCHER, field),
      ),
    ],
  ],
  [
    'an amount that is no whole number of millisatoshis',
    [
      ...badNumbers.flatMap((minSendable) => [
        { ...TERMS, minSendable },
        { ...TERMS, maxSendable: minSendable },
      ]),
      ...badNumbers.flatMap((minWithdrawable) => [
        { ...VOUCHER, minWithdrawable },
        { ...VOUCHER, maxWithdrawable: minWithdrawable },
      ]),
      JSON.stringify(TERMS).replace('5000', '1e999'),
      JSON.stringify(TERMS).replace('5000', 'NaN'),
    ],
  ],
  [
    'a least amount above the most',
    [
      { ...TERMS, minSendable: 5001 },
      { ...VOUCHER, minWithdrawable: 5001 },
      { ...TERMS, maxSendable: 0 },
    ],
  ],
  [
    'metadata that LUD-06 does not allow',
    [
      ...NO_STRINGS,
      'x',
      '',
      '{}',
      '[]',
      '[[]]',
      '[[1,"x"]]',
      'null',
      '[["text/plain"]]',
      '[["text/plain",1]]',
      '[["text/plain","a"],["text/plain","b"]]',
      `[["text/plain","a"]]${SURROGATE}`,
      `[["text/plain","a"],${DEEP}`,
    ].map((metadata) => ({ ...TERMS, metadata })),
  ],
  [
    'a k1 that cannot be sent back as it is',
    [...NO_STRINGS, SURROGATE, 'x'.repeat(9_000)].map((k1) => ({ ...VOUCHER, k1 })),
  ],
  [
    'a description that is not a string',
    [7, true, [], {}, { toString: 1 }].map((defaultDescription) => ({
      ...VOUCHER,
      defaultDescription,
    })),
  ],
  [
    'members that are inherited and not its own',
    [
      `{"__proto__":${JSON.stringify(TERMS)}}`,
      '{"constructor":{"prototype":{"tag":"payRequest"}}}',
    ],
  ],
  [
    'JSON that is cut off, or no JSON',
    [JSON.stringify(TERMS).slice(0, -1), '', '<html>', '{"tag"}'],
  ],
];

describe('the first answer of a service', () => {
  for (const [rule, replies] of REPLIES) {
    test(
      `with ${rule} is error 113`,
      async () => {
        for (const reply of replies) await expectError113(discover(reply));
      },
      LIMIT_MS,
    );
  }

  test('names the field that is wrong', async () => {
    const error = await expectError113(discover({ ...TERMS, maxSendable: -1 }));
    expect(error.message).toBe('The LNURL service answered something unreadable (maxSendable).');
  });

  test('may name amounts beyond all money and beyond 2^53, which count as all money', async () => {
    const most = 2_100_000_000_000_000_000n;
    for (const amount of ['9007199254740993', '1e308', '21000000000000000000000']) {
      const terms = (await discover(
        JSON.stringify(TERMS).replace('5000', amount),
      )) as LnurlPayRequest;
      expect(terms.maxSendableMsat).toBeGreaterThan(9_000_000_000_000_000n);
      expect(terms.maxSendableMsat).toBeLessThanOrEqual(most);
    }
  });

  test('may repeat a name, of which the last counts, and have unknown members', async () => {
    const text = `{"tag":"login",${JSON.stringify(TERMS).slice(1, -1)},"__proto__":{"x":1},"x":${DEEP}}`;
    expect(await discover(text)).toMatchObject({ tag: 'payRequest', description: 'Shop' });
  });

  test('may allow comments in any way; what is no number allows none', async () => {
    for (const commentAllowed of [null, '5', -1, {}, 0.5]) {
      expect(await discover({ ...TERMS, commentAllowed })).toMatchObject({ commentAllowed: 0 });
    }
  });
});

describe('descriptions of a service', () => {
  const nasty = `A\u0000\u202e\ud800 ${'ä'.repeat(5_000)}`;

  test('for a withdrawal fit into an invoice: printable, at most 639 UTF-8 bytes', async () => {
    for (const defaultDescription of [nasty, '😀'.repeat(5_000)]) {
      const terms = (await discover({ ...VOUCHER, defaultDescription })) as LnurlWithdrawRequest;
      const description = terms.defaultDescription ?? '';
      expect(Buffer.byteLength(description)).toBeLessThanOrEqual(639);
      expect(Buffer.byteLength(description)).toBeGreaterThan(630);
      expect(description).not.toMatch(/\p{C}/u);
      expect(description).toEndWith('…');
    }
  });

  test('for a payment are printable and at most 1,000 characters; the metadata stays as it was', async () => {
    const metadata = JSON.stringify([
      ['text/plain', nasty],
      ['text/long-desc', `${nasty}\n`],
    ]);
    const terms = (await discover({ ...TERMS, metadata })) as LnurlPayRequest;
    expect(terms.metadata).toBe(metadata);
    for (const text of [terms.description, terms.longDescription]) {
      expect(text).not.toMatch(/\p{C}/u);
      expect([...(text ?? '')].length).toBe(1_000);
    }
  });

  test('without anything to show are null', async () => {
    for (const text of ['', ' ', '\u0000', SURROGATE, '\u202e\n']) {
      expect(await discover({ ...VOUCHER, defaultDescription: text })).toMatchObject({
        defaultDescription: null,
      });
      const metadata = JSON.stringify([['text/plain', text]]);
      expect(await discover({ ...TERMS, metadata })).toMatchObject({ description: null });
    }
  });
});

describe('the answer to a callback', () => {
  const terms = () => ({ ...TERMS, callback: `${service.origin}/cb` });
  const ask = async (reply: unknown) => {
    const request = (await discover(terms())) as LnurlPayRequest;
    say(reply);
    return client.requestInvoice(request, { amountMsat: 2000n, comment: null });
  };

  const INVOICE_REPLIES: typeof REPLIES = [
    ['no object', ['null', '[]', '7', DEEP]],
    ['no invoice', [{}, { status: 'OK' }, { routes: [] }]],
    ['an invoice that is no string', NO_STRINGS.map((pr) => ({ pr }))],
    [
      'text that is no invoice',
      [
        '',
        'x',
        'lnbc1',
        SURROGATE,
        `lnbc1${'q'.repeat(60_000)}`,
        'lno1pg',
        `lnbc${'9'.repeat(5_000)}p1q`,
      ].map((pr) => ({ pr, routes: DEEP })),
    ],
    [
      'an action after payment of an unexpected shape',
      [
        7,
        'x',
        [],
        {},
        { tag: null },
        { tag: 'url', description: 'x', url: 'x' },
        { tag: SURROGATE },
      ].map((successAction) => ({ pr: 'lnbc1', successAction })),
    ],
  ];
  for (const [what, replies] of INVOICE_REPLIES) {
    test(
      `with ${what} is error 113`,
      async () => {
        for (const reply of replies) await expectError113(ask(reply));
      },
      LIMIT_MS,
    );
  }

  test(
    'of a withdrawal is OK, a refusal, or error 113',
    async () => {
      const voucher = { ...VOUCHER, callback: `${service.origin}/cb?session=1` };
      const request = (await discover(voucher)) as LnurlWithdrawRequest;
      const submit = (reply: unknown) => {
        say(reply);
        return client.submitWithdraw(request, 'lnbc1');
      };
      await submit({ status: 'OK' });
      for (const reply of ['null', '[]', {}, { status: 'PENDING' }, { status: ['OK'] }, DEEP]) {
        await expectError113(submit(reply));
      }
      const error = (await rejection(submit({ status: 'ERROR', reason: 'used' }))) as ApiError;
      expect(error.body()).toMatchObject({
        code: 113,
        data: { problem: 'refused', reason: 'used' },
      });
    },
    LIMIT_MS,
  );

  test('k1 and invoice are added to the query that the callback has, encoded', async () => {
    const asked: string[] = [];
    const noting = createLnurlClient(async (url) => {
      asked.push(url);
      return { status: 'OK' };
    });
    const request = (await discover({
      ...VOUCHER,
      callback: 'https://shop.example/cb?x=1#top',
      k1: 'a&pr=b ä',
    })) as LnurlWithdrawRequest;
    await noting.submitWithdraw(request, 'lnbc1');
    expect([...new URL(asked[0] ?? '').searchParams]).toEqual([
      ['x', '1'],
      ['k1', 'a&pr=b ä'],
      ['pr', 'lnbc1'],
    ]);
  });
});

describe('the way a service answers', () => {
  const answers: readonly (readonly [string, () => Response])[] = [
    [
      'a compressed answer (a small one may unpack to gigabytes)',
      () =>
        new Response(Bun.gzipSync('0'.repeat(1 << 24)), {
          headers: { 'content-encoding': 'gzip' },
        }),
    ],
    ['an answer above 128 KiB', () => new Response(`"${'x'.repeat(128 * 1024)}"`)],
    [
      'an answer without end',
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
        ),
    ],
    ['invalid UTF-8', () => new Response(Uint8Array.of(0x7b, 0xff, 0x7d))],
    [
      'a redirect to a callback with a password',
      () => Response.redirect('https://user:password@shop.example/'),
    ],
    ['a redirect in a circle', () => Response.redirect('/')],
  ];
  for (const [what, response] of answers) {
    test(
      `${what} is error 113`,
      async () => {
        answer = response;
        await expectError113(client.discover(`${service.origin}/`));
      },
      LIMIT_MS,
    );
  }

  test(
    'a slow drip is cut off after the time for the whole answer',
    async () => {
      const dripping = openOutsideService(
        () =>
          new Response(
            new ReadableStream({
              async pull(controller) {
                controller.enqueue(new TextEncoder().encode(' '));
                await Bun.sleep(20);
              },
            }),
          ),
        500,
      );
      const slow = createLnurlClient(dripping.fetchJson);
      const error = await rejection(slow.discover(`${dripping.origin}/`));
      expect((error as ApiError).body()).toMatchObject({
        code: 113,
        data: { problem: 'timed_out' },
      });
      await dripping.close();
    },
    LIMIT_MS,
  );
});
