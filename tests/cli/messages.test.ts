import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary as runAs, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type CliWorld, openCliWorld, runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const INDEX = `0000001764000000000-ln_${'ab'.repeat(32)}`;
const HEX = 'ab'.repeat(32);

let world: CliWorld;
const folder = temporaryFolder('messages');
const file = (name: string) => join(folder, name);
beforeAll(async () => {
  world = await openCliWorld();
  writeFileSync(file('words'), `${'abandon '.repeat(11)}about\n`, { mode: 0o600 });
  writeFileSync(file('data'), '');
  mkdirSync(file('folder'));
  writeFileSync(file('open.env'), 'SERVICE_LISTEN_ADDR=127.0.0.1:0\n');
  Bun.spawnSync(['chmod', '666', file('open.env')]);
});
afterAll(async () => {
  await world.close();
  removeFolder(folder);
});

/** What is typed, how it ends and what it says: one row for each mistake that people made in trials. */
type Row = readonly [words: () => readonly string[], exitCode: number, message: RegExp];

const SERVE = ['serve', '--listen-addr', '127.0.0.1:0', '--data-dir', ':memory:'];

const MISTAKES: Readonly<Record<string, Row>> = {
  'a port that is taken': [
    () => ['serve', '--data-dir', ':memory:', '--listen-addr', world.baseUrl.slice(7)],
    1,
    /^127\.0\.0\.1:\d+ is in use by another program: stop that one, or name another address with --listen-addr\.$/,
  ],
  'an address without a port': [
    () => ['serve', '--listen-addr', 'localhost'],
    2,
    /^--listen-addr must be host:port, such as 127\.0\.0\.1:5393/,
  ],
  'a data directory that is a file': [
    () => ['serve', '--listen-addr', '127.0.0.1:0', '--data-dir', file('data')],
    1,
    /\/data is a file, .* or use another --data-dir\.$/,
  ],
  'a seed of 12 words': [
    () => [...SERVE, '--root-seed-path', file('words')],
    2,
    /words holds a phrase of 12 words, and a root seed is 64 hex characters or a 24-word BIP 39 phrase: "wallet-sidecar seed new" makes one\.$/,
  ],
  'a settings file that is not there': [
    () => ['info', '--env-file', '/none'],
    2,
    /^--env-file names \/none, which is not there: check the path\.$/,
  ],
  'a settings file that is a folder': [
    () => ['info', '--env-file', file('folder')],
    2,
    /is not a file/,
  ],
  'a settings file that others can write': [
    () => [...SERVE, '--env-file', file('open.env')],
    2,
    /can be written by other users.*chmod 600/,
  ],
  'an invoice for longer than a week': [
    () => ['invoice', '5', '--expiry', '8d'],
    2,
    /^Option '--expiry <duration>' .*: it must be a duration from 1s to 7d;/,
  ],
  'a client that expired long ago': [
    () => ['clients', 'create', '--scope', 'send', '--expires', '2020-01-01'],
    2,
    /--expires .*: it must be in the future;/,
  ],
  'more payments than one answer holds': [
    () => ['payments', '--limit', '5000'],
    2,
    /--limit .*: it must be a whole number from 1 to 1000;/,
  ],
  'a budget that is to be removed': [
    () => ['clients', 'update', 'shop', '--budget', 'none'],
    2,
    / --clear-budget removes the limit;/,
  ],
  'a bound of approval that is to be removed': [
    () => ['clients', 'update', 'shop', '--approve-above', 'none'],
    2,
    / --clear-approve-above removes the limit;/,
  ],
  'no payment to wait for': [() => ['wait'], 2, /^Give either a payment or --next;/],
  'a position without --next': [
    () => ['wait', INDEX, '--after', `u${INDEX}`],
    2,
    /^--after needs --next;/,
  ],
  'a position that is none': [() => ['events', '--after', INDEX], 2, /must be the position of an/],
  'a position of no kind of payment': [
    () => ['events', '--after', `u${INDEX.replace(/-[a-z]{2}_/, '-zz_')}`],
    2,
    /must be the position of an/,
  ],
  'a key that is too long': [
    () => ['pay', 'x', '--idempotency-key', 'k'.repeat(256)],
    2,
    /must be 1 to 255 printable ASCII characters;/,
  ],
  'two amounts': [() => ['pay', 'x', '5', '--amount', '6'], 2, /^Give the amount once/],
  'an amount and everything': [() => ['pay', 'x', '5', '--all'], 2, /^Give either an amount or/],
  'a message on chain': [
    () => ['pay', 'x', '5', '--priority', 'high', '--message', 'x'],
    2,
    /^--message cannot be sent on chain/,
  ],
  'a node that is none': [() => ['keysend', HEX, '5'], 2, /public key of a node: 66 hex char/],
  'a peer that is none': [
    () => ['channels', 'open', '20000', '--peer', 'x'],
    2,
    /must be <pubkey>@<host>:<port>;/,
  ],
  'an offer that expires at once': [
    () => ['offer', '--expiry', '0'],
    1,
    /^--expiry must be at least 1 \(error 7\)\.$/,
  ],
  'a description that is too long': [
    () => ['invoice', '5', '--description', 'x'.repeat(700)],
    1,
    /^--description must be Unicode text of at most 639 UTF-8 bytes \(error 7\)\.$/,
  ],
  'a note that is too long': [
    () => ['note', INDEX, 'x'.repeat(300)],
    1,
    /^The note must be at most 200 characters \(error 7\)\.$/,
  ],
  'a name that is too short': [
    () => ['name', 'claim', 'x'],
    1,
    /^The name must be 6 to 24 lowercase letters/,
  ],
  'a range that is upside down': [
    () => ['sandbox', 'lnurl', 'pay', '5', '1'],
    1,
    /^The largest amount must not be below the smallest amount \(error 7\)\.$/,
  ],
  'an invoice that was cut': [
    () => ['analyze', 'lnbc10u1p'],
    1,
    /^The invoice cannot be read: .* \(error 7\)\.$/,
  ],
  'an offer without an amount': [
    () => ['pay', offer, '--idempotency-key', 'k'],
    1,
    /^The amount is required, since the payee leaves it open: give it in satoshis \(error 7\)\.$/,
  ],
  'another amount than the payee asks for': [
    () => ['pay', priced, '5', '--idempotency-key', 'm'],
    1,
    /^The payee asks for 100 sats: leave the amount out or give the same \(error 7\)\.$/,
  ],
  'an invoice without an amount that the world outside pays': [
    () => ['sandbox', 'pay', unpriced],
    1,
    /^The invoice has no amount: say how many satoshis to pay \(error 7\)\.$/,
  ],
  'an LNURL for withdrawing': [
    () => ['pay', lnurl, '5', '--idempotency-key', 'l'],
    1,
    /for withdrawing: use "wallet-sidecar withdraw" \(error 106\)\.$/,
  ],
  'a client that does not exist': [
    () => ['clients', 'show', HEX],
    1,
    /^No active client has this public key: "clients list" shows them\.$/,
  ],
};

let offer = '';
let lnurl = '';
let priced = '';
let unpriced = '';
beforeAll(async () => {
  ({ invoice: priced } = await world.json('sandbox', 'invoice', '100'));
  ({ invoice: unpriced } = await world.json('invoice'));
  ({ offer } = await world.json('sandbox', 'offer'));
  ({ lnurl } = await world.json('sandbox', 'lnurl', 'withdraw', '1', '5'));
});

describe('a mistake is told in one sentence of the words that were typed', () => {
  for (const [mistake, [words, exitCode, message]] of Object.entries(MISTAKES)) {
    test(mistake, async () => {
      const ran = await world.run(...words());
      expect(ran.stderr).toMatch(message);
      expect(ran.stderr).not.toContain('\n');
      expect(ran).toMatchObject({ exitCode, stdout: expect.any(String) });
    });
  }

  /** Returns what `info` says when a sidecar answers with this error. */
  async function saidOf(error: { code: number; msg: string; data?: unknown }): Promise<string> {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json(error, { status: 400 }),
    });
    const env = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` };
    const { stderr } = await runBinary(['info'], env);
    await server.stop(true);
    return stderr;
  }

  test('a wallet that is not signed up yet: the command is named, not the endpoint', async () => {
    const msg = 'This wallet is not signed up yet: call PUT /v2/node/signup first.';
    expect(await saidOf({ code: 106, msg })).toBe(
      'This wallet is not signed up yet: run "wallet-sidecar signup" first (error 106).',
    );
  });

  test('a field is named as data.issues has it, whatever the sentence looks like', async () => {
    const data = { issues: [{ path: 'expiration_secs', message: 'must be shorter' }] };
    expect(await saidOf({ code: 7, msg: 'Rejected.', data })).toBe(
      '--expiry must be shorter (error 7).',
    );
    // A sentence that only begins like one about a field is left as it is.
    expect(await saidOf({ code: 106, msg: 'limit: none.' })).toBe('limit: none (error 106).');
  });

  test('what health misses is told with the command that brings it', async () => {
    const status = 'The LND has no wallet yet: PUT /v2/node/signup creates it.';
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ status }),
    });
    const words = ['health', '--url', `http://127.0.0.1:${server.port}`];
    expect((await runBinary(words)).stdout).toBe(
      'The LND has no wallet yet: "wallet-sidecar signup" creates it.',
    );
    expect(JSON.parse((await runBinary([...words, '--json'])).stdout)).toEqual({ status });
    await server.stop(true);
  });

  test('dev with a database is refused before anything is written', async () => {
    const dir = file('nothing');
    const key = ['--secrets-key', 'ab'.repeat(32)];
    const url = ['--database-url', 'postgres://wallet@127.0.0.1:1/wallet'];
    const ran = await runBinary(['dev', '--data-dir', dir, ...url, ...key]);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The sandbox keeps'),
    });
    expect(existsSync(dir)).toBe(false);
  });

  test('payments that cannot be synced are listed with --no-sync', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ code: 8, msg: 'The disk is full.' }, { status: 503 }),
    });
    const words = ['payments', '--url', `http://127.0.0.1:${server.port}`];
    expect((await runBinary(words)).stderr).toBe(
      'The disk is full (error 8). --no-sync lists what was read before.',
    );
    expect((await runBinary([...words, '--no-sync'])).stderr).toBe('The disk is full (error 8).');
    await server.stop(true);
  });

  test('health of a program that nothing was given names the ways to begin', async () => {
    const started = startBinary(SERVE);
    const health = await runBinary(['health', '--url', await started.ready()]);
    expect(health.stdout).toContain('"wallet-sidecar seed new" makes');
    expect(health.stdout).toContain('"wallet-sidecar dev" starts with a trial wallet');
    await started.stop();
  });

  test('a sidecar at another address is told with that address', async () => {
    const dir = file('elsewhere');
    mkdirSync(dir);
    const owner = { pid: 1, startedAt: '2026-01-01', url: 'http://127.0.0.1:4' };
    writeFileSync(join(dir, 'lock'), JSON.stringify(owner));
    const flags = ['info', '--data-dir', dir, '--url', 'http://127.0.0.1:1'];
    expect((await runBinary(flags)).stderr).toBe(
      `No sidecar answers at http://127.0.0.1:1. The sidecar of ${dir} listens, or listened last, at http://127.0.0.1:4: name it with --url.`,
    );
  });

  // Only root can become another user.
  test.skipIf(process.getuid?.() !== 0)(
    "another user's data directory is told with what to do",
    async () => {
      const dir = file('private');
      mkdirSync(dir, { mode: 0o700 });
      Bun.spawnSync(['chmod', '755', folder]);
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => Response.json({ code: 104, msg: 'No credentials.' }, { status: 401 }),
      });
      const { output } = await runAs(
        ['info', '--data-dir', dir, '--url', `http://127.0.0.1:${server.port}`],
        { before: ['setpriv', '--reuid', '65534', '--clear-groups'] },
      );
      await server.stop(true);
      expect(output.trim()).toBe(
        `No credentials (error 104). This user may not read ${dir}, where the cookie is: use sudo, or credentials with --client-credentials-path.`,
      );
    },
  );

  test('the controls of the sandbox, where it is not in use', async () => {
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => {
        const msg = `No such endpoint: ${request.method} ${new URL(request.url).pathname}.`;
        return Response.json({ code: 107, msg }, { status: 404 });
      },
    });
    const env = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${server.port}` };
    const { exitCode, stderr } = await runBinary(['sandbox', 'fund', '5'], env);
    await server.stop(true);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'This sidecar does not run on the sandbox node, and only that has these controls: "wallet-sidecar dev" starts one (error 107).',
    );
  });
});
