import { closeSync, mkdirSync, openSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { freePort } from '../tests/support/ports.ts';
import { until } from '../tests/support/until.ts';

/** It loads for seconds, and on a busy machine for a minute, before it answers. */
const PATIENCE_MS = 300_000;
/** Every invoice of the measure takes one sat of this. */
const FUNDS_SAT = 10_000_000;

/** An LNbits whose funds are make-believe, with two wallets, which runs until it is stopped. */
export interface Lnbits {
  readonly version: string;
  /** Makes an invoice of one wallet and pays it from the other. */
  readonly makePair: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Starts the program `lnbits`, as it is set up by itself, with its FakeWallet and its data in that folder. */
export async function startLnbits(program: string, folder: string): Promise<Lnbits> {
  mkdirSync(folder, { recursive: true });
  // It looks for its own files below the folder that it is started in.
  symlinkSync(packageOf(program), join(folder, 'lnbits'));
  const port = freePort();
  const log = openSync(join(folder, 'log'), 'w');
  const child = Bun.spawn([program, '--host', '127.0.0.1', '--port', `${port}`], {
    cwd: folder,
    env: { ...process.env, ...environmentOf(folder) },
    stdout: log,
    stderr: log,
    // The server is a child of what is started, so both are ended by their group.
    detached: true,
  });
  closeSync(log);
  const stop = async () => {
    process.kill(-child.pid, 'SIGKILL');
    await child.exited;
  };
  try {
    const call = callsOn(`http://127.0.0.1:${port}`);
    const answers = () => call('GET', '/api/v1/health').then(Boolean, () => false);
    await until(answers, 'LNbits answered', PATIENCE_MS);
    const { version, payee, payer } = await twoWallets(call);
    return { version, stop, makePair: () => pairOf(call, payee, payer) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The folder of its files, in the environment of Python that the program belongs to. */
function packageOf(program: string): string {
  const home = dirname(dirname(realpathSync(program)));
  const [found] = new Glob('lib/python3*/site-packages/lnbits').scanSync({
    cwd: home,
    onlyFiles: false,
  });
  if (found === undefined) throw new Error(`${home} holds no LNbits: install it with pip or pipx.`);
  return join(home, found);
}

function environmentOf(folder: string) {
  return {
    LNBITS_BACKEND_WALLET_CLASS: 'FakeWallet',
    LNBITS_DATA_FOLDER: join(folder, 'data'),
    LNBITS_EXTENSIONS_PATH: folder,
    LNBITS_ADMIN_UI: 'true',
    // Otherwise it refuses more than 200 requests a minute.
    LNBITS_RATE_LIMIT_NO: '100000000',
    // It asks nothing of the network. Otherwise each payment without network waits in vain for a price in dollars.
    LNBITS_EXCHANGE_RATE_PROVIDERS: '[]',
    LNBITS_EXTENSIONS_MANIFESTS: '[]',
    LNBITS_WASM_EXTENSIONS_MANIFESTS: '[]',
    LNBITS_PRICE_AGGREGATOR_ENABLED: 'false',
  };
}

type Answer = Readonly<Record<string, string>>;
type Call = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

function callsOn(url: string): Call {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.headers.get('content-type')?.includes('json')
      ? ((await response.json()) as Answer)
      : {};
  };
}

/** Takes the installation over, makes two wallets, and gives one of them funds. Returns the keys of the wallets. */
async function twoWallets(call: Call) {
  const owner = { username: 'bench', password: 'bench-bench', password_repeat: 'bench-bench' };
  const { access_token } = await call('PUT', '/api/v1/auth/first_install', owner);
  const asOwner = { authorization: `Bearer ${access_token}` };
  const { version = '' } = await call('GET', '/api/v1/status', undefined, asOwner);
  const payee = await call('POST', '/api/v1/account', { name: 'payee' });
  const payer = await call('POST', '/api/v1/account', { name: 'payer' });
  await call('PUT', '/users/api/v1/balance', { id: payer.id, amount: FUNDS_SAT }, asOwner);
  return { version, payee: payee.inkey ?? '', payer: payer.adminkey ?? '' };
}

async function pairOf(call: Call, payee: string, payer: string): Promise<void> {
  const terms = { out: false, amount: 1, memo: 'order 4711 of a customer of the shop' };
  const { bolt11 } = await call('POST', '/api/v1/payments', terms, { 'x-api-key': payee });
  const paid = await call(
    'POST',
    '/api/v1/payments',
    { out: true, bolt11 },
    { 'x-api-key': payer },
  );
  if (paid.status !== 'success') throw new Error(`LNbits says ${paid.status} of a payment.`);
}
