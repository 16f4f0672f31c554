import { createHash, timingSafeEqual } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { type Client, isActive } from '../../model/client.ts';
import type { Credentials, NodeReference } from '../../model/credentials.ts';
import { ApiError, isApiError, refused } from '../../model/errors.ts';
import {
  effectivePermissions,
  PERMISSIONS,
  type Permission,
  SCOPE_NAMES,
} from '../../model/permissions.ts';
import type { ClientChange, CreateClientCommand, NodeClients } from '../node.ts';
import { bakingBeyondFull, operationsFor, operationsToFollow } from './grants.ts';
import { type Operation, restrictMacaroon, timeBefore } from './macaroon.ts';
import type { LndRest } from './rest.ts';
import type { LndWallet } from './wallet.ts';
import { anyShape, bakedMacaroonShape, infoShape } from './wire.ts';

/** Rows that outlive the process; a structural part of the store's connector state. */
export interface LndState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
  list(walletId: string, kind: string): Promise<{ key: string; value: unknown }[]>;
  /** The row of that key, whatever its wallet. */
  find(kind: string, key: string): Promise<{ walletId: string; value: unknown } | null>;
}

const CLIENT = 'lnd-client';
const FOLLOWER = 'lnd-follower';

const clientRow = z.object({
  createdAtMs: z.int(),
  expiresAtMs: z.int().nullable(),
  label: z.string().nullable(),
  revokedAtMs: z.int().nullable(),
  scopes: z.array(z.enum(SCOPE_NAMES)),
  permissions: z.array(z.enum(PERMISSIONS as [Permission, ...Permission[]])),
  /** Of the macaroon in the credentials that were handed out. */
  secretHash: z.string(),
  /** The macaroon that is in force: another one after the grant was changed. */
  macaroon: z.string(),
  rootKeyId: z.string(),
  nodePk: z.string(),
  network: z.enum(['bitcoin', 'testnet', 'signet', 'regtest']),
});
type ClientRow = z.infer<typeof clientRow>;

/** A client of which the registry knows everything that LND does not. */
export interface RegisteredClient {
  readonly userPk: string;
  readonly client: Client;
  readonly macaroonHex: string;
  readonly nodePk: string;
  readonly network: ClientRow['network'];
}

/**
 * LND's macaroons have no names: which root key belongs to which client is kept here. Each client has a root key id
 * of its own, never used twice, so that deleting it ends that client and no other.
 */
export class ClientRegistry {
  readonly #state: LndState;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(state: LndState, random: (bytes: number) => Uint8Array) {
    this.#state = state;
    this.#random = random;
  }

  /** The client that credentials name and prove to be; null when it is not known here. Throws `unauthenticated`. */
  async find(credentials: Credentials): Promise<RegisteredClient | null> {
    const found = await this.#state.find(CLIENT, credentials.client);
    if (!found) return null;
    const row = clientRow.parse(found.value);
    const [given, kept] = [hashOf(credentials.secret), Buffer.from(row.secretHash, 'hex')];
    if (!timingSafeEqual(given, kept)) {
      throw new ApiError('unauthenticated', 'The credentials are malformed or unknown.');
    }
    return {
      userPk: found.walletId,
      client: clientOf(credentials.client, row),
      macaroonHex: row.macaroon,
      nodePk: row.nodePk,
      network: row.network,
    };
  }

  /**
   * The macaroon by which the sidecar itself follows the wallet's payments, whatever the macaroon of the session may
   * read. Made with the first session that may make one; null until then.
   */
  async follower(rest: LndRest, userPk: string): Promise<string | null> {
    const kept = z
      .string()
      .nullable()
      .parse(await this.#state.get(userPk, FOLLOWER, 'macaroon'));
    if (kept !== null && (await isGood(rest.with(kept)))) return kept;
    try {
      const { macaroon } = await this.#bake(rest, operationsToFollow());
      await this.#state.put(userPk, FOLLOWER, 'macaroon', macaroon);
      return macaroon;
    } catch (error) {
      if (isApiError(error, 'forbidden')) return null;
      throw error;
    }
  }

  /** The port's client operations; `rest` is asked for at each call, since a client's macaroon may change. */
  operations(
    rest: () => LndRest,
    wallet: LndWallet,
    node: NodeReference,
    changed: (client: Client, macaroonHex: string) => void,
  ): NodeClients {
    const { userPk, clock } = wallet;
    const read = async (clientPk: string): Promise<ClientRow> => {
      const row = clientRow.nullable().parse(await this.#state.get(userPk, CLIENT, clientPk));
      if (row && isActive(row, clock.now())) return row;
      throw new ApiError('notFound', 'Client not found');
    };
    const write = (clientPk: string, row: ClientRow) =>
      this.#state.put(userPk, CLIENT, clientPk, row);
    return {
      listClients: async () => {
        const rows = await this.#state.list(userPk, CLIENT);
        return rows
          .map(({ key, value }) => clientOf(key, clientRow.parse(value)))
          .filter((client) => isActive(client, clock.now()))
          .toSorted((a, b) => a.createdAtMs - b.createdAtMs);
      },
      createClient: async (command) => {
        await this.follower(rest(), userPk);
        const clientPk = bytesToHex(ed25519.getPublicKey(this.#random(32)));
        const { macaroon, rootKeyId } = await this.#bakeFor(rest(), command);
        const row: ClientRow = {
          createdAtMs: clock.now(),
          expiresAtMs: command.expiresAtMs,
          label: command.label,
          revokedAtMs: null,
          scopes: [...command.scopes],
          permissions: [...command.permissions],
          secretHash: hashOf(macaroon).toString('hex'),
          macaroon,
          rootKeyId,
          nodePk: wallet.nodePk,
          network: wallet.network,
        };
        await write(clientPk, row);
        return {
          client: clientOf(clientPk, row),
          credentials: { v: 1, node, client: clientPk, secret: macaroon },
        };
      },
      updateClient: async (clientPk, change) => {
        const before = await read(clientPk);
        const after = merged(before, change);
        if (changesMacaroon(change)) {
          Object.assign(after, await this.#bakeFor(rest(), after));
        }
        // The new macaroon is kept before the old one ends: a crash in between leaves both, not none.
        await write(clientPk, after);
        if (after.rootKeyId !== before.rootKeyId) await deleteRootKey(rest(), before.rootKeyId);
        const client = clientOf(clientPk, after);
        changed(client, after.macaroon);
        return client;
      },
      revokeClient: async (clientPk) => {
        const before = await read(clientPk);
        await deleteRootKey(rest(), before.rootKeyId);
        const after = { ...before, revokedAtMs: clock.now() };
        await write(clientPk, after);
        const client = clientOf(clientPk, after);
        changed(client, after.macaroon);
        return client;
      },
    };
  }

  async #bakeFor(
    rest: LndRest,
    grant: Pick<CreateClientCommand, 'scopes' | 'permissions' | 'expiresAtMs'>,
  ): Promise<{ macaroon: string; rootKeyId: string }> {
    const permissions = effectivePermissions(grant.scopes, grant.permissions);
    const baking = bakingBeyondFull(permissions);
    if (baking !== null) {
      throw refused(
        `LND cannot bound what a client with ${baking} makes for itself: grant the scope full, or leave ${baking} out.`,
      );
    }
    const { macaroon, rootKeyId } = await this.#bake(rest, operationsFor(permissions));
    const { expiresAtMs } = grant;
    if (expiresAtMs === null) return { macaroon, rootKeyId };
    return { macaroon: restrictMacaroon(macaroon, timeBefore(expiresAtMs)), rootKeyId };
  }

  async #bake(
    rest: LndRest,
    permissions: readonly Operation[],
  ): Promise<{ macaroon: string; rootKeyId: string }> {
    // Below 2^53 and never 0, which is LND's own and cannot be deleted.
    const random = new DataView(this.#random(8).buffer).getBigUint64(0);
    const rootKeyId = `${random & (2n ** 53n - 1n) || 1n}`;
    const { macaroon } = await rest.post(
      '/v1/macaroon',
      { permissions, root_key_id: rootKeyId },
      bakedMacaroonShape,
      { harmlessTwice: true },
    );
    return { macaroon, rootKeyId };
  }
}

function merged(before: ClientRow, change: ClientChange): ClientRow {
  return {
    ...before,
    ...(change.label === undefined ? {} : { label: change.label }),
    ...(change.expiresAtMs === undefined ? {} : { expiresAtMs: change.expiresAtMs }),
    ...(change.grant
      ? { scopes: [...change.grant.scopes], permissions: [...change.grant.permissions] }
      : {}),
  };
}

/** Grant and expiry stand in the macaroon itself. */
function changesMacaroon(change: ClientChange): boolean {
  return change.grant !== undefined || change.expiresAtMs !== undefined;
}

/** Whether LND still knows the macaroon; somebody may have deleted its root key there. */
async function isGood(rest: LndRest): Promise<boolean> {
  try {
    await rest.get('/v1/getinfo', infoShape);
    return true;
  } catch (error) {
    if (isApiError(error, 'unauthenticated')) return false;
    throw error;
  }
}

async function deleteRootKey(rest: LndRest, rootKeyId: string): Promise<void> {
  await rest.delete(`/v1/macaroon/${rootKeyId}`, anyShape);
}

function clientOf(clientPk: string, row: ClientRow): Client {
  const { createdAtMs, expiresAtMs, label, revokedAtMs, scopes, permissions } = row;
  return { clientPk, createdAtMs, expiresAtMs, label, revokedAtMs, scopes, permissions };
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
