import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import type { Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import {
  PERMISSIONS,
  type Permission,
  SCOPES,
  type Scope,
} from '../../src/model/clients/permissions.ts';
import type { Answer } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const create = (body: object) => world.post('/v2/node/create_client', body);
const grant = async (...scopes: Scope[]) => (await create({ scopes })).client_credentials as string;

/** Accesses that need no permission while the header is not required. */
const OPEN = ['public', 'authenticated', 'root_seed', 'sandbox', 'sandbox_wallet'] as const;

describe('every endpoint against every scope', () => {
  for (const scope of Object.keys(SCOPES) as Scope[]) {
    test(`${scope} reaches exactly what its permissions allow`, async () => {
      const credentials = await grant(scope);
      const held = new Set<Permission | 'owner'>(SCOPES[scope]);
      for (const route of ROUTES) {
        const needed = neededPermissions(route);
        if (needed === null || route.group === 'events') continue;
        const answer = await world.call(route.method.toUpperCase(), route.path, {
          credentials,
          ...(route.body ? { body: { scopes: 1 } } : {}),
          // Nothing comes next once the export has brought the cache up to date.
          ...(route.path.endsWith('/wait_for_next_payment') && { query: { timeout_secs: '1' } }),
        });
        if (needed.some((permission) => held.has(permission))) {
          expect({ path: route.path, isReached: isReached(answer) }).toEqual({
            path: route.path,
            isReached: true,
          });
        } else {
          expect(`${route.path} ${answer.body.code}`).toBe(`${route.path} 108`);
          expect(needed).toContain(answer.body.data.permission);
        }
      }
    });
  }

  test('read_info, read_payments and receive give exactly their permissions', async () => {
    const made = await create({ scopes: ['read_info', 'read_payments', 'receive'] });
    expect([...made.effective_permissions].toSorted()).toEqual(
      [
        'node_info',
        'list_channels',
        'get_human_bitcoin_address',
        'get_payments_by_indexes',
        'get_new_payments',
        'get_updated_payments',
        'get_payment_by_id',
        'list_broadcasted_txs',
        'get_next_unused_address',
        'create_invoice',
        'create_offer',
        'resync',
        'cancel_payment',
      ].toSorted(),
    );
  });
});

describe('client_info', () => {
  test('with the root seed is kind root_seed, scope full, and null where it does not apply', async () => {
    expect(await world.get('/v2/node/client_info')).toEqual({
      kind: 'root_seed',
      client_pk: null,
      created_at: null,
      expires_at: null,
      label: null,
      scopes: ['full'],
      permissions: [],
      effective_permissions: [...PERMISSIONS],
      budget: null,
      approve_above: null,
      origins: null,
      own: false,
    });
  });

  test('with client credentials is the client', async () => {
    const made = await create({
      scopes: ['read_info'],
      permissions: ['create_invoice'],
      label: 'Shop',
    });
    expect(await world.get('/v2/node/client_info', {}, made.client_credentials)).toMatchObject({
      kind: 'client_credentials',
      client_pk: made.client_pk,
      created_at: made.created_at,
      label: 'Shop',
      expires_at: null,
      scopes: ['read_info'],
      permissions: ['create_invoice'],
      effective_permissions: [
        'node_info',
        'list_channels',
        'get_human_bitcoin_address',
        'create_invoice',
      ],
    });
  });
});

/**
 * Whether the answer is the endpoint's own. It may find fault with the input, or say that this kind of node cannot do
 * it, but is never that the caller may not call, nor an error inside.
 */
function isReached({ status, body }: Answer): boolean {
  return ![401, 403, 500].includes(status) && body.code !== 6;
}

/**
 * Returns the permissions of which a caller needs one; null when every caller has access. `owner` is not part of any
 * scope.
 */
function neededPermissions({ access }: Route): readonly (Permission | 'owner')[] | null {
  if (typeof access !== 'string') return access;
  return isOpen(access) ? null : [access];
}

function isOpen(access: Route['access'] & string): access is (typeof OPEN)[number] {
  return (OPEN as readonly string[]).includes(access);
}
