import { afterAll, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/sources.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

const folder = temporaryFolder('ldk-config');
afterAll(() => removeFolder(folder));

const SEED = 'ab'.repeat(32);
const PEER = `02${'cd'.repeat(32)}@lsp.example:9735`;
const WHOLE = {
  node: 'ldk',
  network: 'signet',
  'esplora-url': 'https://chain.example/api',
  'data-dir': '/data',
};
const loaded = (flags: Record<string, string>, seed: string | undefined = SEED) =>
  loadConfig({
    env: { HOME: '/h', ...(seed && { SERVICE_ROOT_SEED: seed }) },
    flags,
    cwd: folder,
  }).ldk;
const problemOf = (flags: Record<string, string>, seed?: string) => {
  try {
    loaded(flags, seed);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return 'no problem';
};
const without = (name: keyof typeof WHOLE) =>
  Object.fromEntries(Object.entries(WHOLE).filter(([one]) => one !== name));

test('without --node there is no LDK node, and none of its settings', () => {
  expect(loaded({})).toBeNull();
  for (const name of [
    'network',
    'esplora-url',
    'electrum-url',
    'lsp',
    'max-lsp-fee',
    'lightning-listen-addr',
  ]) {
    expect(problemOf({ [name]: 'x' })).toBe(`--${name} needs --node ldk beside it.`);
  }
});

test('the node has the root seed, and by itself no LSP and no address', () => {
  expect(loaded(WHOLE)).toEqual({
    rootSeed: Buffer.from(SEED, 'hex'),
    network: 'signet',
    chain: { esplora: 'https://chain.example/api' },
    lsp: null,
    listen: null,
  });
});

test('an LSP takes at most 5000 sats, or what --max-lsp-fee says', () => {
  const maxFeeOf = (flags: object) => loaded({ ...WHOLE, lsp: PEER, ...flags })?.lsp?.maxFeeMsat;
  expect(maxFeeOf({})).toBe(5_000_000n);
  expect(maxFeeOf({ 'max-lsp-fee': '7' })).toBe(7000n);
  expect(problemOf({ ...WHOLE, lsp: PEER, 'max-lsp-fee': '1.5' })).toContain(
    'a whole number of sats',
  );
  expect(problemOf({ ...WHOLE, lsp: 'lsp.example' })).toContain('--lsp');
});

test('a bound for the fee of an LSP needs an LSP', () => {
  expect(problemOf({ ...WHOLE, 'max-lsp-fee': '7' })).toBe(
    '--max-lsp-fee bounds the fee of an LSP: name the LSP with --lsp.',
  );
});

test('no problem names --node, which "ldk recover" does not take', () => {
  const problems = [
    problemOf(without('network')),
    problemOf(without('esplora-url')),
    problemOf(WHOLE, ''),
    problemOf({ ...WHOLE, 'data-dir': ':memory:' }),
    problemOf({ ...WHOLE, 'node-url': 'https://127.0.0.1:8080' }),
  ];
  for (const problem of problems) {
    expect(problem).toContain('LDK node');
    expect(problem).not.toContain('--node ');
  }
});

test('what it cannot do without is asked for, and nothing is chosen', () => {
  expect(problemOf(without('network'))).toContain('--network');
  expect(problemOf(without('esplora-url'))).toContain('--esplora-url or --electrum-url');
  expect(problemOf(WHOLE, '')).toContain('wallet-sidecar seed new');
  expect(problemOf({ ...WHOLE, 'data-dir': ':memory:' })).toContain('data directory');
  expect(problemOf({ ...WHOLE, node: 'lnd' })).toContain('must be ldk');
  expect(problemOf({ ...WHOLE, network: 'mainnet' })).toContain('must be one of');
  expect(problemOf({ ...WHOLE, 'lightning-listen-addr': 'here' })).toContain('--lightning-listen');
});

test('an Esplora may have a password, whose signs are percent-encoded, and paths are added to its address', () => {
  const withUrl = (url: string) => ({ ...WHOLE, 'esplora-url': url });
  const url = 'https://me:50%25off@chain.example/api';
  expect(loaded(withUrl(`${url}/`))?.chain).toEqual({ esplora: url });
  const problem = problemOf(withUrl('https://me:50%off@chain.example/api'));
  expect(problem).toBe('--esplora-url must have %25 for each % of its user and password.');
  for (const end of ['?key=1', '#top']) {
    expect(problemOf(withUrl(`https://chain.example/api${end}`))).toContain('without query');
  }
});

test('an Electrum server may tell of the chain in place of an Esplora, and not beside one', () => {
  const other = without('esplora-url');
  for (const url of ['ssl://fulcrum.example:50002', 'tcp://127.0.0.1:50001', 'tcp://[::1]:50001']) {
    expect(loaded({ ...other, 'electrum-url': url })?.chain).toEqual({ electrum: url });
  }
  for (const url of [
    'http://a:1',
    'ssl://a',
    'ssl://a:0',
    'ssl://a:65536',
    'ssl://u:p@a:1',
    'a:1',
  ]) {
    expect(problemOf({ ...other, 'electrum-url': url })).toContain('ssl://host:port');
  }
  const both = problemOf({ ...WHOLE, 'electrum-url': 'ssl://fulcrum.example:50002' });
  expect(both).toBe('--esplora-url cannot be used with --electrum-url: keep one of them.');
});

test('real money needs a flag of its own', () => {
  const real = { ...WHOLE, network: 'bitcoin' };
  expect(problemOf(real)).toContain('--experimental-mainnet');
  expect(loaded({ ...real, 'experimental-mainnet': 'true' })?.network).toBe('bitcoin');
});

test('another node, a proxy and a fleet cannot be beside it', () => {
  for (const [name, value] of Object.entries({
    'node-url': 'https://127.0.0.1:8080',
    'node-proxy': '127.0.0.1:9050',
  })) {
    expect(problemOf({ ...WHOLE, [name]: value })).toContain(`--${name}`);
  }
});
