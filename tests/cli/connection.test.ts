import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeClientCredentials } from '../../src/model/credentials.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type Ran, runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What a server that is not to be trusted answers next, and what it was sent. */
let answer: () => Response = () => Response.json({});
const requests: Headers[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    // A copy is needed, because Bun releases a request's headers with its answer.
    requests.push(new Headers(request.headers));
    return answer();
  },
});
/** A server that reads a request and closes the connection. */
const hangsUp = Bun.listen({
  port: 0,
  hostname: '127.0.0.1',
  socket: { data: (socket) => void socket.end() },
});
const folder = temporaryFolder('cli');
afterAll(async () => {
  await server.stop(true);
  hangsUp.stop(true);
  removeFolder(folder);
});

const CREDENTIALS = credentialsOf('a');
const OTHERS = credentialsOf('b');
const PAY = ['pay', 'lno1x', '5'];
/** With a key of the caller, none is drawn and shown. */
const KEYED = [...PAY, '--idempotency-key', 'k'];

function credentialsOf(digit: string): string {
  const [client, secret] = [digit.repeat(64), digit.repeat(64)];
  return encodeClientCredentials({ client, secret });
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return runBinary(args, { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}`, ...env });
}

describe('an outcome that is not known', () => {
  test('a payment whose connection breaks can be asked for again with its key', async () => {
    const url = `http://127.0.0.1:${hangsUp.port}`;
    const { exitCode, stdout, stderr } = await run([...PAY, '--url', url]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/broke before the answer arrived/);
    expect(stderr).toMatch(/may be on its way.*--idempotency-key [0-9a-f-]{36} /);
  });

  test('the key it names is the one that the payment was sent with', async () => {
    answer = () => Response.json({ code: 8, msg: 'Stopping.', data: null }, { status: 503 });
    const { stderr } = await run(PAY);
    expect(stderr).toContain('Stopping (error 8). It may be on its way');
    const key = requests.at(-1)?.get('idempotency-key') ?? 'none';
    expect(stderr).toStartWith(`Idempotency-Key: ${key}\n`);
    expect(stderr).toContain(`--idempotency-key ${key} `);
  });

  test('an error from before anything was sent does not say that a payment may be on its way', async () => {
    for (const status of [400, 403, 501]) {
      answer = () => Response.json({ code: 106, msg: 'No funds.', data: null }, { status });
      expect((await run(KEYED)).stderr).toBe('No funds (error 106).');
    }
    expect((await run([...KEYED, '--url', 'http://127.0.0.1:1'])).stderr).toBe(
      'No sidecar answers at http://127.0.0.1:1: start one, or name it with --url.',
    );
  });

  test('data.sent of the sidecar decides whether anything was sent', async () => {
    const refusal = (status: number, sent: string) => () =>
      Response.json({ code: 106, msg: 'No.', data: { sent } }, { status });
    answer = refusal(502, 'no');
    expect((await run(KEYED)).stderr).toBe('No (error 106).');
    answer = refusal(409, 'unknown');
    expect((await run(PAY)).stderr).toContain('may be on its way');
  });

  test('a key of another request is no way to get the result of this one', async () => {
    const data = { sent: 'unknown' };
    answer = () => Response.json({ code: 111, msg: 'Key used.', data }, { status: 409 });
    expect((await run(KEYED)).stderr).toBe('Key used (error 111).');
  });

  test('a call without credentials has sent nothing, unless its key may be that of one with them', async () => {
    const error = { code: 104, msg: 'No credentials.', data: { sent: 'unknown' } };
    answer = () => Response.json(error, { status: 401 });
    expect((await run(PAY)).stderr).not.toContain('may be on its way');
    expect((await run(KEYED)).stderr).toContain('may be on its way');
    const given = [...PAY, '--client-credentials', CREDENTIALS];
    expect((await run(given)).stderr).toContain('may be on its way');
  });

  test('every payment has a key of its own', async () => {
    answer = () => Response.json({ code: 106, msg: 'No.' }, { status: 400 });
    requests.length = 0;
    await run(PAY);
    await run(PAY);
    expect(requests).toHaveLength(2);
    const keys = requests.map((headers) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(null);
  });
});

describe('an answer that does not come from a sidecar', () => {
  const strange: Readonly<Record<string, () => Response>> = {
    'a web page': () => new Response('<h1>Hello</h1>'),
    'JSON of something else': () => Response.json({ hello: 1 }),
    'an error of something else': () => new Response('no', { status: 500 }),
    nothing: () => new Response(''),
  };
  for (const [name, respond] of Object.entries(strange)) {
    test(`${name} ends with 1 and says to check --url`, async () => {
      answer = respond;
      const { exitCode, stdout, stderr } = await run(['info']);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/does not fit a wallet-sidecar.*check --url\.$/);
    });
  }

  test('a redirection is not followed, so that the credentials stay where they were meant for', async () => {
    requests.length = 0;
    answer = () => Response.redirect('/elsewhere');
    const { exitCode } = await run(['info', '--client-credentials', CREDENTIALS]);
    expect(exitCode).toBe(1);
    expect(requests).toHaveLength(1);
  });

  test('what it says reaches the terminal without control characters', async () => {
    answer = () => Response.json({ code: 106, msg: 'a\u001b[2J\u009b1m\nb' }, { status: 400 });
    const { stdout, stderr } = await run(['info', '--json']);
    expect(stderr).toBe('a\\u{1b}[2J\\u{9b}1m\\u{a}b (error 106).');
    expect(stdout).toMatch(/^[^\p{C}]+$/u);
    expect(JSON.parse(stdout).msg).toBe('a\u001b[2J\u009b1m\nb');
  });
});

describe('credentials and address', () => {
  const sent = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    requests.length = 0;
    await run(['info', ...args], env);
    return requests.at(-1)?.get('authorization');
  };

  test('without credentials no header is sent, and the sidecar uses its own', async () => {
    expect(await sent([])).toBeNull();
  });

  test('a flag puts aside both forms of the environment', async () => {
    const file = join(folder, 'credentials');
    writeFileSync(file, `${OTHERS}\n`);
    expect(await sent([], { SERVICE_CLIENT_CREDENTIALS: CREDENTIALS })).toBe(
      `Bearer ${CREDENTIALS}`,
    );
    expect(await sent([], { SERVICE_CLIENT_CREDENTIALS_PATH: file })).toBe(`Bearer ${OTHERS}`);
    const env = { SERVICE_CLIENT_CREDENTIALS_PATH: file };
    expect(await sent(['--client-credentials', CREDENTIALS], env)).toBe(`Bearer ${CREDENTIALS}`);
  });

  test('the listen address of the environment is where the sidecar is looked for', async () => {
    const env = { SERVICE_SIDECAR_URL: '', SERVICE_LISTEN_ADDR: `127.0.0.1:${server.port}` };
    expect(await sent([], env)).toBeNull();
    expect(requests).toHaveLength(1);
  });

  test('what cannot be used is wrong usage, and is never repeated', async () => {
    const both = { SERVICE_CLIENT_CREDENTIALS: CREDENTIALS, SERVICE_CLIENT_CREDENTIALS_PATH: '/x' };
    const wrong: readonly [Ran, RegExp][] = [
      [
        await run(['info', '--client-credentials', 'sEcReT']),
        /^--client-credentials does not hold/,
      ],
      [await run(['info', '--client-credentials', `${CREDENTIALS}\nx: y`]), /does not hold/],
      [await run(['info', '--client-credentials-path', '/none']), /cannot be read: \/none\.$/],
      [await run(['info'], both), /are both set: keep one of them\.$/],
      [await run(['info', '--url', 'zork']), /^--url must be an http or https URL\.$/],
      [await run(['info', '--url', 'ftp://x']), /^--url must be an http or https URL\.$/],
      [await run(['info', '--url', 'http://a:b@127.0.0.1']), /without user, query and fragment\.$/],
      [
        await run(['info', '--url', 'http://127.0.0.1/?x=1']),
        /without user, query and fragment\.$/,
      ],
    ];
    for (const [{ exitCode, stdout, stderr }, message] of wrong) {
      expect(stderr).toMatch(message);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).not.toContain('sEcReT');
      expect(stderr).not.toContain(CREDENTIALS);
    }
  });
});

test('fields that the sidecar does not know are told, safe for a terminal', async () => {
  answer = () =>
    Response.json(
      { redelivered: 1 },
      { headers: { 'x-ignored-fields': '"amt%C2%9B31m", "disclosures.x"' } },
    );
  const { stdout, stderr } = await run(['webhooks', 'redeliver', '--since', '7d', '--json']);
  expect(stderr).toContain('ignored them: amt\\u{9b}31m, disclosures.x. Is it');
  expect(stdout).not.toContain('amt');
});
