import { describe, expect, spyOn, test } from 'bun:test';
import {
  ERROR_CODES,
  WalletSidecar,
  WalletSidecarError,
  type WalletSidecarOptions,
} from '../../src/client/index.ts';
import { isLoopbackHost } from '../../src/lib/network/loopback-host.ts';
import { ERRORS } from '../../src/model/errors.ts';
import { throwing } from '../support/rejection.ts';

interface Seen {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
}
type Step = () => Response;

/** Returns a client whose calls are answered by `steps` in turn. The last step answers all further calls. */
function clientWith(steps: readonly Step[], options: WalletSidecarOptions = {}) {
  const seen: Seen[] = [];
  const client = new WalletSidecar({
    url: 'https://sidecar.test/',
    fetch: async (url, init) => {
      seen.push({ url, init, headers: new Headers(init.headers) });
      return (steps[seen.length - 1] ?? steps.at(-1) ?? gone)();
    },
    ...options,
  });
  return { client, seen };
}

const ok = () => Response.json({ status: 'ok' });
const gone = (): Response => {
  throw new TypeError('fetch failed');
};
const full = () =>
  Response.json(
    { code: 8, msg: 'Over capacity: call again.', data: null, sensitive: false },
    { status: 503, headers: { 'retry-after': '0' } },
  );

const OPEN = 'it may have taken effect, and a payment may be on its way.';
const BROKEN = 'The connection to the sidecar at https://sidecar.test ended without an answer:';

async function errorFrom(call: Promise<unknown>): Promise<WalletSidecarError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof WalletSidecarError) return error;
  throw new Error(`expected a WalletSidecarError, got ${String(error)}`);
}

describe('what is sent', () => {
  test('the credentials, the body as JSON, the idempotency key and the wish not to wait', async () => {
    const { client, seen } = clientWith([ok], { credentials: ' secret\n' });
    await client.payInvoice(
      { invoice: 'lnbc1', personal_note: undefined, max_fee: '0.5' },
      { idempotencyKey: 'order-1', respondAfterSecs: 0 },
    );
    expect(seen[0]?.url).toBe('https://sidecar.test/v2/node/pay_invoice');
    expect(seen[0]?.init).toMatchObject({
      method: 'POST',
      body: '{"invoice":"lnbc1","max_fee":"0.5"}',
      redirect: 'manual',
    });
    expect(Object.fromEntries(seen[0]?.headers ?? [])).toEqual({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
      'idempotency-key': 'order-1',
      prefer: 'wait=0',
    });
  });

  test('query parameters, those left out not at all, and no header without credentials', async () => {
    const { client, seen } = clientWith([ok]);
    await client.listPayments({ filter: 'all', limit: 5, after: undefined });
    expect(seen[0]?.url).toBe('https://sidecar.test/v2/node/list_payments?filter=all&limit=5');
    expect([...(seen[0]?.headers ?? [])]).toEqual([]);
  });

  test('below the path of the url, for a sidecar behind a proxy', async () => {
    const { client, seen } = clientWith([ok], { url: 'https://shop.test/wallet/' });
    await client.health();
    expect(seen[0]?.url).toBe('https://shop.test/wallet/v2/health');
  });
});

describe('a number that is no amount', () => {
  for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1000n]) {
    test(`such as ${value} is named with its field, and nothing is sent`, async () => {
      const { client, seen } = clientWith([ok]);
      const wrong = value as number;
      const calls = [
        client.pay({ payable: 'x', max_fee: wrong }, { idempotencyKey: 'k' }),
        client.createClient({
          scopes: [],
          budget: { amount: '5', period: 'day', max_fee: wrong } as never,
        }),
        client.listPayments({ filter: 'all', max_fee: wrong } as never),
      ];
      for (const call of calls) {
        const error: unknown = await call.catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(RangeError);
        expect(String(error)).toContain(`max_fee is ${value}, which cannot be sent`);
      }
      expect(seen).toEqual([]);
    });
  }
});

describe('what cannot be sent has had no effect', () => {
  const payable = 'lnbc1';
  const given: Readonly<Record<string, (client: WalletSidecar, text: string) => unknown>> = {
    idempotencyKey: (client, idempotencyKey) => client.pay({ payable }, { idempotencyKey }),
    startIndex: (client, startIndex) => client.events({ startIndex }).next(),
    credentials: (_, credentials) => new WalletSidecar({ credentials }),
  };
  for (const [field, use] of Object.entries(given)) {
    test(`${field} that no header can carry is named, is not shown, and nothing is sent`, async () => {
      const { client, seen } = clientWith([ok]);
      for (const [text, place] of [
        ['order\u201317', 6],
        ['order№17', 6],
        ['order\r\n17', 6],
        ['order 17\u0001', 9],
      ] as const) {
        const error: unknown = await (async () => use(client, text))().catch((reason) => reason);
        expect(error).toBeInstanceOf(RangeError);
        expect(String(error)).toBe(
          `RangeError: ${field} must be one or more printable ASCII characters, and its character ${place} is none. Nothing was sent.`,
        );
      }
      expect(seen).toEqual([]);
    });
  }

  test('an empty key is none, and a repeat with it could pay again', async () => {
    const { client, seen } = clientWith([gone]);
    expect(await throwing(client.pay({ payable }, { idempotencyKey: '' }))).toThrow(RangeError);
    expect(seen).toEqual([]);
  });

  test('a signal that was aborted before sends nothing, and its reason is the error', async () => {
    const { client, seen } = clientWith([ok]);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    const options = { idempotencyKey: 'k', signal };
    expect(await client.pay({ payable }, options).catch((error: unknown) => error)).toBe(reason);
    expect(
      await client
        .events({ signal })
        .next()
        .catch((error: unknown) => error),
    ).toBe(reason);
    expect(seen).toEqual([]);
  });

  test('what is no signal, and a body that is no JSON, are never told to be a lost connection', async () => {
    const seen: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => {
        seen.push(url);
        return Response.json({});
      },
    });
    const client = new WalletSidecar({ url: server.url.href });
    const circular: { payable: string; self?: unknown } = { payable };
    circular.self = circular;
    try {
      const keyed = { idempotencyKey: 'k' };
      const wrong = { ...keyed, signal: new AbortController() as never };
      expect(await throwing(client.pay({ payable }, wrong))).toThrow(TypeError);
      expect(await throwing(client.pay(circular, keyed))).toThrow(TypeError);
      expect(seen).toEqual([]);
    } finally {
      await server.stop(true);
    }
  });

  test('a repeat sends what the first attempt has sent, whatever became of its object', async () => {
    const body = { payable, amount: '5' };
    const { client, seen } = clientWith([
      () => {
        body.amount = '7';
        return gone();
      },
      ok,
    ]);
    await client.pay(body, { idempotencyKey: 'k' });
    expect(seen.map(({ init }) => init.body)).toEqual(
      Array(2).fill(JSON.stringify({ payable, amount: '5' })),
    );
  });
});

describe('errors', () => {
  test('carry what the sidecar said', async () => {
    const body = { code: 108, msg: 'Ask for it.', data: { permission: 'send' }, sensitive: false };
    const { client } = clientWith([() => Response.json(body, { status: 403 })]);
    const error = await errorFrom(client.nodeInfo());
    expect(error.message).toBe('Ask for it.');
    expect(error).toMatchObject({
      name: 'WalletSidecarError',
      code: ERROR_CODES.forbidden,
      httpStatus: 403,
      kind: 'error',
      data: { permission: 'send' },
      body,
      retryAfterMs: null,
    });
  });

  test('name the codes of the server', () => {
    const codes = Object.entries(ERRORS).map(([name, { code }]) => [name, code]);
    expect(ERROR_CODES as object).toEqual(Object.fromEntries(codes));
  });

  for (const [what, answer] of [
    ['a page', () => new Response('<html>', { status: 502 })],
    ['a page with status 200', () => new Response('<html>')],
    ['foreign JSON', () => Response.json({ error: 'no' }, { status: 404 })],
  ] as const) {
    test(`say so when ${what} answers instead of a sidecar`, async () => {
      const { client, seen } = clientWith([answer]);
      const error = await errorFrom(client.health());
      expect(error.message).toContain('did not come from a wallet-sidecar');
      expect(error).toMatchObject({ kind: 'foreign', code: null, httpStatus: answer().status });
      expect(seen).toHaveLength(1);
    });
  }

  test('say so when there is no answer, and never show the credentials', async () => {
    const { client } = clientWith([gone], { maxRetries: 0, credentials: 'secret' });
    const error = await errorFrom(client.health());
    expect(error.message).toBe(`${BROKEN} call again.`);
    expect(error).toMatchObject({ code: null, httpStatus: null, cause: expect.any(TypeError) });
    expect(Bun.inspect({ error, client })).not.toContain('secret');
  });

  test('say so when a redirection answers, which is not followed: it would take the credentials', async () => {
    const authorizations: (string | null)[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch({ headers }) {
        authorizations.push(headers.get('authorization'));
        return Response.redirect('/elsewhere');
      },
    });
    try {
      const options = { url: server.url.href, credentials: 'secret' };
      const error = await errorFrom(new WalletSidecar(options).health());
      expect(error).toMatchObject({ kind: 'foreign', httpStatus: 302, body: null });
      expect(authorizations).toEqual(['Bearer secret']);
    } finally {
      await server.stop(true);
    }
  });

  test('tell a connection that was never made from an answer that never came', async () => {
    const closed = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } });
    const url = `http://127.0.0.1:${closed.port}`;
    closed.stop(true);
    const refused = await errorFrom(new WalletSidecar({ url, maxRetries: 0 }).health());
    expect(refused.kind).toBe('unreachable');
    const inNode = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    const unreachable = clientWith([], { fetch: () => Promise.reject(inNode), maxRetries: 0 });
    expect((await errorFrom(unreachable.client.health())).kind).toBe('unreachable');
    const lost = clientWith([gone], { maxRetries: 0 });
    expect((await errorFrom(lost.client.health())).kind).toBe('unanswered');
    expect(refused.message).toBe(
      `No sidecar answered at ${url}: check that it runs, and check the url.`,
    );
  });

  test('say of a POST that broke after it was sent that it may have been done, and what to do', async () => {
    const { client } = clientWith([gone], { maxRetries: 0 });
    const body = { invoice: 'lnbc1' };
    expect((await errorFrom(client.payInvoice(body))).message).toBe(
      `${BROKEN} ${OPEN} Look what became of it before you try anew.`,
    );
    const keyed = await errorFrom(client.payInvoice(body, { idempotencyKey: 'order-1' }));
    expect(keyed.message).toBe(`${BROKEN} ${OPEN} Repeat the call with the same idempotency key.`);
  });

  test('say so too where no repeat reached the sidecar any more', async () => {
    const refuse = () => {
      throw Object.assign(new TypeError('fetch failed'), { code: 'ConnectionRefused' });
    };
    const { client } = clientWith([gone, refuse], { maxRetries: 1 });
    const error = await errorFrom(client.payInvoice({ invoice: 'l' }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({ kind: 'unreachable', mayHaveTakenEffect: true });
    expect(error.message).toEndWith(
      `check the url. An earlier attempt was sent: ${OPEN} Repeat the call with the same idempotency key.`,
    );
  });
});

describe('the url', () => {
  for (const url of [
    '127.0.0.1:5393',
    'ftp://127.0.0.1',
    'file:///run/sidecar',
    'javascript:alert(1)',
    'http://user:secret@127.0.0.1:5393',
    'http://127.0.0.1:5393/?x=1',
    'http://127.0.0.1:5393/#x',
  ]) {
    test(`${url} throws at once`, () => {
      expect(() => new WalletSidecar({ url })).toThrow('must be an http or https URL');
    });
  }

  test('takes credentials only to this machine or over https, as the command line does', () => {
    for (const host of [
      '127.0.0.1',
      '127.1',
      'localhost',
      'a.localhost.',
      '[::1]',
      '10.0.0.1',
      'sidecar',
      'localhost.example',
      '0.0.0.0',
      '127.0.0.1.example',
      '[::2]',
    ]) {
      const open = () => new WalletSidecar({ url: `http://${host}:5393`, credentials: 'secret' });
      if (isLoopbackHost(host)) expect(open).not.toThrow();
      else expect(open).toThrow('only to this machine or over https');
    }
    expect(() => new WalletSidecar({ url: 'https://a.example', credentials: 'x' })).not.toThrow();
    expect(() => new WalletSidecar({ url: 'http://a.example' })).not.toThrow();
    expect(() => new WalletSidecar({ url: 'http://a.example', credentials: ' \n' })).not.toThrow();
  });
});

describe('whether a call that went wrong may have taken effect', () => {
  const refusal =
    (status: number, data: unknown = null) =>
    () =>
      Response.json({ code: 106, msg: 'No.', data }, { status });
  const unreachable = (): Response => {
    throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' });
  };
  const cases: readonly (readonly [string, Step, boolean])[] = [
    ['a refusal', refusal(400), false],
    ['something that is not implemented', refusal(501), false],
    ['a fault of the sidecar', refusal(500), true],
    [
      'a fault after which the sidecar says that nothing was sent',
      refusal(502, { sent: 'no' }),
      false,
    ],
    ['a refusal after which something may have been sent', refusal(409, { sent: 'unknown' }), true],
    ['a server that is no sidecar', () => new Response('<html>', { status: 404 }), true],
    ['an answer that never came', gone, true],
    ['a connection that was never made', unreachable, false],
  ];
  for (const [what, step, expected] of cases) {
    test(`${what}: ${expected ? 'it may' : 'it has not'}, and a read never has`, async () => {
      const { client } = clientWith([step], { maxRetries: 0 });
      const paid = await errorFrom(client.pay({ payable: 'lnbc1' }));
      const read = await errorFrom(client.nodeInfo());
      expect([paid, read].map((error) => error.mayHaveTakenEffect)).toEqual([expected, false]);
    });
  }

  test('a PUT always may, since the runtime repeats it when a connection breaks, but nobody says that it was sent', async () => {
    const { client } = clientWith([unreachable, unreachable], { maxRetries: 1 });
    const error = await errorFrom(client.syncPayments());
    expect(error.mayHaveTakenEffect).toBe(true);
    expect(error.message).not.toContain('was sent');
  });

  test('it may when any attempt may have, whatever the last one says', async () => {
    const { client } = clientWith([full, refusal(401)]);
    const error = await errorFrom(client.pay({ payable: 'x' }, { idempotencyKey: 'k' }));
    expect(error).toMatchObject({ kind: 'error', httpStatus: 401, mayHaveTakenEffect: true });
  });
});

describe('calls are repeated', () => {
  test('when no answer came or the sidecar is full, until one comes', async () => {
    const { client, seen } = clientWith([gone, full, ok]);
    expect(await client.health()).toEqual({ status: 'ok' });
    expect(seen).toHaveLength(3);
  });

  test('when the answer breaks off', async () => {
    const broken = () =>
      new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError('cut')) }));
    const { client, seen } = clientWith([broken, ok]);
    expect(await client.syncPayments()).toBeObject();
    expect(seen).toHaveLength(2);
  });

  test('twice at most, unless told otherwise', async () => {
    const { client, seen } = clientWith([full]);
    expect(await errorFrom(client.nodeInfo())).toMatchObject({ code: 8, retryAfterMs: 0 });
    expect(seen).toHaveLength(3);
    const patient = clientWith([full], { maxRetries: 4 });
    await errorFrom(patient.client.nodeInfo());
    expect(patient.seen).toHaveLength(5);
  });

  test('a POST only with an idempotency key, and with the same one', async () => {
    for (const step of [gone, full]) {
      const bare = clientWith([step, step, ok]);
      await errorFrom(bare.client.pay({ payable: 'lnbc1' }));
      await errorFrom(bare.client.createInvoice());
      expect(bare.seen).toHaveLength(2);
      const keyed = clientWith([step, ok]);
      await keyed.client.pay({ payable: 'lnbc1' }, { idempotencyKey: 'k' });
      expect(keyed.seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['k', 'k']);
    }
  });

  test('wait_for_next_payment only from a given place, since its answer counts as seen', async () => {
    const bare = clientWith([gone, ok]);
    await errorFrom(bare.client.waitForNextPayment());
    expect(bare.seen).toHaveLength(1);
    const placed = clientWith([gone, ok]);
    await placed.client.waitForNextPayment({ start_index: 'u1' });
    expect(placed.seen).toHaveLength(2);
  });

  test('not when the answer is final, and not when the sidecar asks for a long time', async () => {
    const error =
      (code: number, status: number, headers = {}) =>
      () =>
        Response.json({ code, msg: 'No.', data: null, sensitive: false }, { status, headers });
    for (const step of [error(106, 400), error(4, 504), error(6, 500), error(5, 502)]) {
      const { client, seen } = clientWith([step, ok]);
      await errorFrom(client.nodeInfo());
      expect(seen).toHaveLength(1);
    }
    const busy = clientWith([error(8, 503, { 'retry-after': '3600' }), ok]);
    expect(await errorFrom(busy.client.health())).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(busy.seen).toHaveLength(1);
  });
});

describe('a signal', () => {
  test('ends a call with its own reason', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const { client } = clientWith([], {
      fetch: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const call = client.waitForPayment({ index: 'x' }, { signal: stop.signal });
    stop.abort(reason);
    expect(await call.catch((error: unknown) => error)).toBe(reason);
  });

  test('ends the pause before a repetition', async () => {
    const stop = new AbortController();
    const { client, seen } = clientWith([
      () => {
        queueMicrotask(() => setTimeout(() => stop.abort(new Error('enough'))));
        return gone();
      },
    ]);
    const call = client.health({ signal: stop.signal });
    expect(await call.catch((error: Error) => error.message)).toBe('enough');
    expect(seen).toHaveLength(1);
  });
});

describe('fields that the sidecar does not know', () => {
  const ignoring = () =>
    Response.json({}, { headers: { 'X-Ignored-Fields': '"amt", "disclosures.a%2Eb", "%FF"' } });

  test('are told to the program, with the answer as it is', async () => {
    const told: unknown[] = [];
    const { client } = clientWith([ignoring], { onIgnoredFields: (ignored) => told.push(ignored) });
    expect<unknown>(await client.createInvoice({})).toEqual({});
    expect(told).toEqual([
      {
        method: 'POST',
        path: '/v2/node/create_invoice',
        names: ['amt', 'disclosures.a.b', '%FF'],
      },
    ]);
  });

  test('are a warning on the console where the program does not ask', async () => {
    const warn = spyOn(console, 'warn').mockImplementation(() => undefined);
    await clientWith([ignoring]).client.createInvoice({});
    await clientWith([ok]).client.health();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/create_invoice.*ignored.*amt/)]]);
    warn.mockRestore();
  });
});
