import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '../../src/http/route.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { request } from './request.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TIMEOUT_MS = 120_000;

/** The credentials that a caller can hold. */
type Holder = 'nothing' | 'cookie' | 'made-up' | 'other wallet' | 'narrow' | 'revoked' | 'full';

/** Whether a caller passes authentication and authorization (`in`), or the error it gets. The body does not matter. */
type Verdict = 'in' | 104 | 108;

interface World {
  readonly sidecar: DevSidecar;
  readonly credentials: Readonly<Record<Exclude<Holder, 'nothing'>, string>>;
  readonly dataDir: string;
}

for (const requireAuth of [false, true]) {
  describe(`every endpoint, ${requireAuth ? 'with' : 'without'} --require-auth`, () => {
    let world: World;
    let folder: string;
    beforeAll(async () => {
      folder = temporaryFolder('trust');
      world = await openWorld(join(folder, 'data'), requireAuth);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await world?.sidecar.stop();
      removeFolder(folder);
    });

    for (const holder of [
      'nothing',
      'cookie',
      'made-up',
      'other wallet',
      'narrow',
      'revoked',
      'full',
    ] as const) {
      test(
        `${holder} gets exactly what it was granted`,
        async () => {
          for (const route of [...ROUTES, ...SANDBOX_ROUTES]) {
            if (route.path.startsWith('/sandbox/lnurl') || route.path.startsWith('/.well-known')) {
              continue;
            }
            const found = await verdictOf(world, route, holder);
            const name = `${route.method} ${route.path}`;
            expect(`${name}: ${found}`).toBe(`${name}: ${expected(route, holder, requireAuth)}`);
          }
        },
        TIMEOUT_MS,
      );
    }
  });
}

test(
  'the cookie file is readable by its owner only, fresh at each start and gone after the end',
  async () => {
    const folder = temporaryFolder('cookie');
    const options = { dataDir: join(folder, 'data'), port: freePort() };
    const path = join(options.dataDir, 'cookie');
    const first = await startDevSidecar(options);
    const token = readFileSync(path, 'utf8');
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await first.stop();
    expect(() => statSync(path)).toThrow();
    const second = await startDevSidecar(options);
    expect(readFileSync(path, 'utf8')).not.toBe(token);
    await second.stop();
    removeFolder(folder);
  },
  TIMEOUT_MS,
);

async function openWorld(dataDir: string, requireAuth: boolean): Promise<World> {
  const sidecar = await startDevSidecar({
    dataDir,
    port: freePort(),
    ...(requireAuth ? { env: { SERVICE_REQUIRE_AUTH: 'true' } } : {}),
  });
  const cookie = readFileSync(join(dataDir, 'cookie'), 'utf8');
  const post = async (path: string, body: object) => {
    const { status, body: answer } = await request(sidecar.baseUrl, 'POST', path, {
      body,
      credentials: cookie,
    });
    expect(status).toBe(200);
    return answer;
  };
  const create = async (scopes: string[]) => post('/v2/node/create_client', { scopes });
  const revoked = await create(['full']);
  await post('/v2/node/revoke_client', { client_pk: revoked.client_pk });
  return {
    sidecar,
    dataDir,
    credentials: {
      cookie,
      'made-up': Buffer.from(
        JSON.stringify({ v: 2, client: 'ab'.repeat(32), secret: 'cd'.repeat(32) }),
      ).toString('base64url'),
      'other wallet': (await post('/sandbox/wallets', {})).client_credentials,
      narrow: (await create(['annotate'])).client_credentials,
      revoked: revoked.client_credentials,
      full: (await create(['full'])).client_credentials,
    },
  };
}

/**
 * The request's body is invalid on purpose, so that a caller who passes authorization gets error 7 and changes nothing.
 */
async function verdictOf(world: World, route: Route, holder: Holder): Promise<Verdict> {
  const credentials = holder === 'nothing' ? undefined : world.credentials[holder];
  const gone = new AbortController();
  const patience = route.path === '/v2/node/wait_for_next_payment' ? '?timeout_secs=1' : '';
  const response = await fetch(`${world.sidecar.baseUrl}${route.path}${patience}`, {
    method: route.method.toUpperCase(),
    signal: gone.signal,
    headers: {
      ...(route.body ? { 'content-type': 'application/json' } : {}),
      ...(credentials === undefined ? {} : { authorization: `Bearer ${credentials}` }),
    },
    ...(route.body ? { body: '[]' } : {}),
  });
  if (response.status === 200) {
    gone.abort();
    return 'in';
  }
  const { code } = (await response.json()) as { code: number };
  if (code === 104 || code === 108) return code;
  return 'in';
}

function expected(route: Route, holder: Holder, requireAuth: boolean): Verdict {
  const { access } = route;
  if (access === 'public' || (access === 'sandbox' && !requireAuth)) return 'in';
  if (access === 'root_seed') {
    if (holder === 'nothing') return requireAuth ? 104 : 'in';
    return holder === 'cookie' ? 'in' : 104;
  }
  if (holder === 'made-up' || holder === 'revoked') return 104;
  if (holder === 'nothing') return requireAuth ? 104 : 'in';
  if (holder === 'cookie') return 'in';
  if (access === 'owner') return 108;
  if (holder === 'full' || holder === 'other wallet') return 'in';
  if (access === 'sandbox' || access === 'sandbox_wallet') return requireAuth ? 108 : 'in';
  if (access === 'authenticated') return 'in';
  const needed = typeof access === 'string' ? [access] : access;
  return needed.includes('update_personal_note') ? 'in' : 108;
}
