import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { ConfigError, type Flags } from '../../src/config/sources.ts';
import { encodeClientCredentials } from '../../src/model/credentials.ts';
import { parseRootSeed, rootSeedPhrase } from '../../src/model/root-seed.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

const folder = temporaryFolder('config');
afterAll(() => removeFolder(folder));

const SEED = 'a1'.repeat(32);
const WEBHOOK_SECRET = 'c2Vj'.repeat(8);
const CREDENTIALS = encodeClientCredentials({
  client: 'ab'.repeat(32),
  secret: 'cd'.repeat(32),
});
const load = (flags: Flags = {}, env: Record<string, string> = {}, cwd = folder) =>
  loadConfig({ flags, env, cwd });

/** Returns the message of the error for a configuration; checks that it holds no secret. */
function refusal(flags: Flags, env: Record<string, string> = {}, cwd = folder): string {
  try {
    load(flags, env, cwd);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as Error;
    expect(message).not.toContain(SEED);
    expect(message).not.toContain(CREDENTIALS);
    return message;
  }
  throw new Error('the configuration was taken');
}

function hexOf(seed: Uint8Array | null): string | null {
  return seed && Buffer.from(seed).toString('hex');
}

describe('defaults', () => {
  test('are those of the table', () => {
    expect(load()).toMatchObject({
      listen: { host: '127.0.0.1', port: 5393 },
      rootSeed: null,
      clientCredentials: null,
      node: null,
      metrics: true,
      webhookUrl: null,
      webhookSecret: null,
      allowPrivateNetwork: false,
      requireAuth: false,
      maxFee: { ppm: 10_000, leastMsat: 10_000n },
      logLevel: 'info',
      logFormat: 'text',
      sandboxBlockSecs: 10,
      historySinceMs: null,
      markerPath: null,
      nodeCredentials: [],
      nodeProxy: null,
      warnings: [],
      notes: [],
    });
    expect(load({}, { XDG_DATA_HOME: '/x' }).dataDir).toBe('/x/wallet-sidecar');
    expect(Object.isFrozen(load())).toBe(true);
  });
});

test('the history begins with a day, in UTC', () => {
  expect(load({ 'history-since': '2026-01-31' }).historySinceMs).toBe(Date.UTC(2026, 0, 31));
});

describe('precedence', () => {
  test('flag over environment over the nearest .env upwards', () => {
    const inner = join(folder, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    writeFileSync(
      join(folder, 'a', '.env'),
      'SERVICE_LOG_LEVEL=debug\nexport SERVICE_MAX_FEE="2%" # note\n',
    );
    writeFileSync(
      join(folder, '.env'),
      'SERVICE_LOG_LEVEL=error\nSERVICE_LISTEN_ADDR=127.0.0.1:1\n',
    );
    expect(load({}, {}, inner)).toMatchObject({
      logLevel: 'debug',
      maxFee: { ppm: 20_000 },
      listen: { port: 5393 },
    });
    expect(load({}, { SERVICE_LOG_LEVEL: 'warn' }, inner).logLevel).toBe('warn');
    expect(load({ 'log-level': 'error' }, { SERVICE_LOG_LEVEL: 'warn' }, inner).logLevel).toBe(
      'error',
    );
    rmSync(join(folder, '.env'));
  });

  test('every option has a flag and an environment name of its own', () => {
    const options = Object.values(OPTIONS);
    expect(new Set(options.map(({ flag }) => flag)).size).toBe(options.length);
    expect(new Set(options.map(({ env }) => env)).size).toBe(options.length);
  });
});

describe('conflicts are refused with a sentence that names both sources', () => {
  test('a value and its path twin, wherever they are set', () => {
    expect(refusal({ 'root-seed': SEED }, { SERVICE_ROOT_SEED_PATH: '/x' })).toBe(
      '--root-seed and SERVICE_ROOT_SEED_PATH (environment) are both set: keep one of them.',
    );
    expect(
      refusal(
        {},
        { SERVICE_CLIENT_CREDENTIALS: CREDENTIALS, SERVICE_CLIENT_CREDENTIALS_PATH: '/x' },
      ),
    ).toMatch(/SERVICE_CLIENT_CREDENTIALS \(environment\) and SERVICE_CLIENT_CREDENTIALS_PATH/);
  });

  test('a root seed and client credentials', () => {
    expect(refusal({ 'root-seed': SEED, 'client-credentials': CREDENTIALS })).toMatch(
      /--root-seed and --client-credentials/,
    );
  });
});

describe('metrics', () => {
  test('are shown on loopback and nowhere else', () => {
    for (const address of ['127.0.0.1:1', 'localhost:1', '[::1]:1']) {
      expect(load({ 'listen-addr': address }).metrics).toBe(true);
    }
    for (const address of ['0.0.0.0:1', '[::]:1', '192.168.1.5:1']) {
      expect(load({ 'listen-addr': address }).metrics).toBe(false);
    }
  });

  test('are shown or not as the option says, wherever the server listens', () => {
    for (const address of ['127.0.0.1:1', '0.0.0.0:1']) {
      expect(load({ 'listen-addr': address, metrics: 'on' }).metrics).toBe(true);
      expect(load({ 'listen-addr': address }, { SERVICE_METRICS: 'off' }).metrics).toBe(false);
    }
  });
});

describe('secrets', () => {
  test('a root seed is 64 hex characters or 24 words of the same entropy', () => {
    const phrase = rootSeedPhrase(parseRootSeed(SEED) ?? new Uint8Array());
    expect(phrase.split(' ')).toHaveLength(24);
    expect(load({ 'root-seed': phrase.toUpperCase() }).rootSeed).toEqual(
      load({ 'root-seed': SEED }).rootSeed,
    );
    for (const bad of [
      SEED.slice(1),
      `${SEED}0`,
      'zz'.repeat(32),
      phrase.split(' ').slice(1).join(' '),
      `${phrase.split(' ').slice(1).join(' ')} zoo`,
    ]) {
      expect(refusal({ 'root-seed': bad })).toMatch(
        /^--root-seed does not hold a root seed, .*: "wallet-sidecar seed new" makes one\.$/,
      );
    }
  });

  test('files are read, and one that others can read draws a warning', () => {
    const path = join(folder, 'seed');
    writeFileSync(path, `${SEED}\n`, { mode: 0o600 });
    expect(load({ 'root-seed-path': path })).toMatchObject({ warnings: [] });
    chmodSync(path, 0o644);
    const [warning] = load({ 'root-seed-path': path }).warnings;
    expect(warning).toContain('chmod 600');
    expect(refusal({ 'root-seed-path': join(folder, 'none') })).toMatch(/cannot be read/);
  });

  test('one given as a flag works, and draws a warning that names what to use instead', () => {
    const given: readonly (readonly [string, string, string])[] = [
      ['root-seed', SEED, 'use --root-seed-path'],
      ['client-credentials', CREDENTIALS, 'use --client-credentials-path'],
      ['webhook-secret', WEBHOOK_SECRET, 'use --webhook-secret-path'],
    ];
    for (const [flag, value, instead] of given) {
      const config = load({ [flag]: value });
      expect(config.warnings).toEqual([
        `--${flag} shows its secret to other users of this machine in the list of processes: ${instead} instead.`,
      ]);
      expect([config.clientCredentials, config.webhookSecret, hexOf(config.rootSeed)]).toContain(
        value,
      );
      const env = `SERVICE_${flag.replaceAll('-', '_').toUpperCase()}`;
      expect(load({}, { [env]: value }).warnings).toEqual([]);
    }
  });

  test('files that systemd passes as credentials draw no warning, whatever mode its ACL shows', () => {
    const path = join(folder, 'passed');
    writeFileSync(path, SEED, { mode: 0o600 });
    chmodSync(path, 0o440);
    expect(load({ 'root-seed-path': path }).warnings).toHaveLength(1);
    const env = { CREDENTIALS_DIRECTORY: folder };
    expect(load({ 'root-seed-path': path }, env).warnings).toEqual([]);
    const elsewhere = { CREDENTIALS_DIRECTORY: join(folder, 'a') };
    expect(load({ 'root-seed-path': path }, elsewhere).warnings).toHaveLength(1);
  });

  describe('of systemd', () => {
    const passed = (files: Readonly<Record<string, string>>) => {
      const directory = join(folder, 'systemd');
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
      return { CREDENTIALS_DIRECTORY: directory };
    };

    test('are read where no setting names a wallet; a blank one is none', () => {
      const client = passed({ 'client-credentials': `${CREDENTIALS}\n`, 'root-seed': '\n' });
      expect(load({}, client)).toMatchObject({
        clientCredentials: CREDENTIALS,
        // It is read again when the node does not answer.
        clientCredentialsPath: join(client.CREDENTIALS_DIRECTORY, 'client-credentials'),
        rootSeed: null,
        warnings: [],
      });
      const seed = load({}, passed({ 'client-credentials': '\n', 'root-seed': SEED }));
      expect([hexOf(seed.rootSeed), seed.clientCredentials]).toEqual([SEED, null]);
    });

    test('stand back behind every setting that names a wallet', () => {
      const both = passed({ 'client-credentials': CREDENTIALS, 'root-seed': '\n' });
      const config = load({}, { ...both, SERVICE_ROOT_SEED: SEED });
      expect([hexOf(config.rootSeed), config.clientCredentials]).toEqual([SEED, null]);
    });

    test('must not be two, and not both blank, unless another node is named', () => {
      expect(refusal({}, passed({ 'client-credentials': CREDENTIALS, 'root-seed': SEED }))).toMatch(
        /^systemd credential root-seed .* and systemd credential client-credentials .* are both set/,
      );
      const blank = passed({ 'client-credentials': '\n', 'root-seed': '\n' });
      expect(refusal({}, blank)).toBe(
        'The service has no wallet: put client credentials into /etc/wallet-sidecar/client-credentials or a root seed into /etc/wallet-sidecar/root-seed, and start it again.',
      );
      const node = join(folder, 'node.credentials');
      writeFileSync(node, 'some', { mode: 0o600 });
      expect(load({ 'node-credentials-path': node }, blank).clientCredentials).toBeNull();
    });

    test('that cannot be read are told by name, and so is a folder that systemd did not make', () => {
      const folderOfOne = passed({});
      mkdirSync(join(folderOfOne.CREDENTIALS_DIRECTORY, 'root-seed'));
      expect(refusal({}, folderOfOne)).toMatch(
        /^systemd credential root-seed names a file that cannot be read: .*root-seed\.$/,
      );
      expect(refusal({}, { CREDENTIALS_DIRECTORY: join(folder, 'never-made') })).toMatch(
        /^systemd passed no credentials: the folder .*never-made, .* does not exist\./,
      );
    });

    test('are not looked for in a service that passes others', () => {
      expect(load({}, passed({ 'webhook.key': 'x' })).clientCredentials).toBeNull();
    });
  });

  test('malformed credentials and webhook secrets are refused', () => {
    expect(refusal({ 'client-credentials': 'abc' })).toMatch(/does not hold client credentials/);
    expect(refusal({ 'webhook-secret': 'abc' })).toMatch(/24 to 64 random bytes/);
  });

  test('the webhook secret has a file as its twin, as every secret has', () => {
    const path = join(folder, 'webhook-secret');
    writeFileSync(path, `whsec_${WEBHOOK_SECRET}\n`, { mode: 0o600 });
    expect(load({ 'webhook-secret-path': path })).toMatchObject({
      webhookSecret: WEBHOOK_SECRET,
      warnings: [],
    });
    const env = { SERVICE_WEBHOOK_SECRET_PATH: path };
    expect(load({}, env).webhookSecret).toBe(WEBHOOK_SECRET);
    expect(refusal({ 'webhook-secret': WEBHOOK_SECRET }, env)).toBe(
      '--webhook-secret and SERVICE_WEBHOOK_SECRET_PATH (environment) are both set: keep one of them.',
    );
    chmodSync(path, 0o644);
    expect(load({}, env).warnings).toEqual([expect.stringContaining('run chmod 600 on it')]);
  });
});

describe('further nodes', () => {
  const fileWith = (name: string, text: string, mode = 0o600) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
    return path;
  };

  test('come from repeated flags as they are, or from a list with commas in the environment', () => {
    const [a, b] = [fileWith('a,1.credentials', ' one\n'), fileWith('b.credentials', 'two\n')];
    expect(load({ 'node-credentials-path': [a, b] }).nodeCredentials).toEqual([
      { text: 'one', source: `--node-credentials-path ${a}`, path: a },
      { text: 'two', source: `--node-credentials-path ${b}`, path: b },
    ]);
    const c = fileWith('c.credentials', 'three');
    const env = { SERVICE_NODE_CREDENTIALS_PATHS: `${b}, ${c},` };
    expect(load({}, env).nodeCredentials).toEqual([
      { text: 'two', source: `SERVICE_NODE_CREDENTIALS_PATHS (environment) ${b}`, path: b },
      { text: 'three', source: `SERVICE_NODE_CREDENTIALS_PATHS (environment) ${c}`, path: c },
    ]);
  });

  test('a file that is missing or empty is refused by name, one that others can read draws a warning', () => {
    const missing = join(folder, 'missing');
    expect(refusal({ 'node-credentials-path': [missing] })).toBe(
      `--node-credentials-path names a file that cannot be read: ${missing}.`,
    );
    const empty = fileWith('empty', '\n');
    expect(refusal({ 'node-credentials-path': [empty] })).toBe(
      `--node-credentials-path ${empty} is an empty file.`,
    );
    const open = fileWith('open', 'text', 0o644);
    expect(load({ 'node-credentials-path': [open] }).warnings).toEqual([
      `${open} can be read by other users of this machine: run chmod 600 on it.`,
    ]);
  });
});

test('the marker is where --marker-path says', () => {
  expect(load({ 'marker-path': '/m/marker' }).markerPath).toBe('/m/marker');
  expect(load({}, { SERVICE_MARKER_PATH: '/m/2' }).markerPath).toBe('/m/2');
});

describe('malformed values are refused with a sentence that names the source', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['listen-addr', '5393'],
    ['listen-addr', '127.0.0.1:99999'],
    ['listen-addr', '::1:5393'],
    ['sidecar-url', 'ftp://x'],
    ['webhook-url', 'not a url'],
    ['doh-url', ''],
    ['doh-url', 'http://127.0.0.1/dns-query'],
    ['max-fee', '1'],
    ['max-fee', '101%'],
    ['max-fee', '-1%'],
    ['log-level', 'loud'],
    ['log-format', 'xml'],
    ['sandbox-block-secs', '-1'],
    ['history-since', '2026-02-30'],
    ['history-since', 'yesterday'],
    ['history-since', '2999-01-01'],
    ['buy-link-template', 'https://example.com/'],
    ['require-auth', 'maybe'],
    ['metrics', 'some'],
  ];
  for (const [flag, value] of bad) {
    test(`--${flag} ${value}`, () => expect(refusal({ [flag]: value })).toStartWith(`--${flag} `));
  }
});

describe('--node-proxy', () => {
  test('is host and port, with IPv6 in brackets', () => {
    expect(load({ 'node-proxy': '127.0.0.1:9050' }).nodeProxy).toEqual({
      host: '127.0.0.1',
      port: 9050,
    });
    expect(load({}, { SERVICE_NODE_PROXY: '[::1]:9150' }).nodeProxy).toEqual({
      host: '::1',
      port: 9150,
    });
  });

  test('rejects what is no address of a proxy', () => {
    for (const text of ['socks5://127.0.0.1:9050', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:99999']) {
      expect(refusal({ 'node-proxy': text })).toMatch(
        /^--node-proxy must be host:port of a SOCKS5 proxy/,
      );
    }
  });
});

test('--webhook-events names what --webhook-url receives, and always the end of payments', () => {
  const events = (flags: Flags, env = {}) => load(flags, env).webhookEvents;
  expect(events({})).toEqual(['payment.finalized']);
  expect(events({ 'webhook-events': 'payment.held, payment.finalized' })).toEqual([
    'payment.finalized',
    'payment.held',
  ]);
  expect(events({}, { SERVICE_WEBHOOK_EVENTS: 'payment.finalized' })).toEqual([
    'payment.finalized',
  ]);
  for (const wrong of ['payment.held', 'payment.finalized,payment.lost', ',']) {
    expect(() => events({ 'webhook-events': wrong })).toThrow(
      /must be payment\.finalized, alone or/,
    );
  }
});
