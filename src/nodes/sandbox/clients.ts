import { createHash, timingSafeEqual } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { type Client, isActive } from '../../model/client.ts';
import type { Credentials } from '../../model/credentials.ts';
import { ApiError } from '../../model/errors.ts';
import type { Permission, Scope } from '../../model/permissions.ts';
import type { ClientChange, CreateClientCommand } from '../node.ts';
import type { World } from './world.ts';

interface ClientRow {
  readonly client_pk: string;
  readonly user_pk: string;
  readonly secret_hash: Uint8Array;
  readonly scopes: string;
  readonly permissions: string;
  readonly label: string | null;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly revoked_ms: number | null;
}

/** Creates a client: a random secret, whose ed25519 public key is the client's name; only its hash is stored. */
export function createClient(
  world: World,
  userPk: string,
  command: CreateClientCommand,
): { client: Client; credentials: Credentials } {
  const secret = world.random(32);
  const clientPk = bytesToHex(ed25519.getPublicKey(secret));
  world.transact(() =>
    world.db
      .query(
        `INSERT INTO clients (client_pk, user_pk, secret_hash, scopes, permissions, label, created_ms,
           expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        clientPk,
        userPk,
        hashOf(secret),
        JSON.stringify(command.scopes),
        JSON.stringify(command.permissions),
        command.label,
        world.clock.now(),
        command.expiresAtMs,
      ),
  );
  return {
    client: activeClient(world, userPk, clientPk),
    credentials: { v: 1, node: { kind: 'sandbox' }, client: clientPk, secret: bytesToHex(secret) },
  };
}

/** The wallet and client that credentials prove to be, whatever became of the client; null when they prove none. */
export function findClient(
  world: World,
  credentials: Credentials,
): { userPk: string; client: Client } | null {
  const row = world.db
    .query<ClientRow, [string]>('SELECT * FROM clients WHERE client_pk = ?')
    .get(credentials.client);
  if (row === null || !/^[0-9a-f]{64}$/.test(credentials.secret)) return null;
  if (!timingSafeEqual(hashOf(hexToBytes(credentials.secret)), row.secret_hash)) return null;
  return { userPk: row.user_pk, client: clientOf(row) };
}

/** Active clients of the wallet, oldest first. */
export function listClients(world: World, userPk: string): Client[] {
  const nowMs = world.clock.now();
  return world.db
    .query<ClientRow, [string]>(
      'SELECT * FROM clients WHERE user_pk = ? AND revoked_ms IS NULL ORDER BY created_ms, client_pk',
    )
    .all(userPk)
    .map(clientOf)
    .filter((client) => isActive(client, nowMs));
}

/** Changes an active client. Throws `notFound`. */
export function updateClient(
  world: World,
  userPk: string,
  clientPk: string,
  change: ClientChange,
): Client {
  return world.transact(() => {
    const before = activeClient(world, userPk, clientPk);
    const after = { ...before, ...change, ...change.grant };
    world.db
      .query(
        'UPDATE clients SET label = ?, expires_ms = ?, scopes = ?, permissions = ? WHERE client_pk = ?',
      )
      .run(
        after.label,
        after.expiresAtMs,
        JSON.stringify(after.scopes),
        JSON.stringify(after.permissions),
        clientPk,
      );
    return readClient(world, userPk, clientPk) ?? before;
  });
}

/** Revokes an active client for ever. Throws `notFound`. */
export function revokeClient(world: World, userPk: string, clientPk: string): Client {
  return world.transact(() => {
    const before = activeClient(world, userPk, clientPk);
    const nowMs = world.clock.now();
    world.db.query('UPDATE clients SET revoked_ms = ? WHERE client_pk = ?').run(nowMs, clientPk);
    return { ...before, revokedAtMs: nowMs };
  });
}

function activeClient(world: World, userPk: string, clientPk: string): Client {
  const client = readClient(world, userPk, clientPk);
  if (client && isActive(client, world.clock.now())) return client;
  throw new ApiError('notFound', 'Client not found');
}

function readClient(world: World, userPk: string, clientPk: string): Client | null {
  const row = world.db
    .query<ClientRow, [string, string]>('SELECT * FROM clients WHERE client_pk = ? AND user_pk = ?')
    .get(clientPk, userPk);
  return row && clientOf(row);
}

function clientOf(row: ClientRow): Client {
  return {
    clientPk: row.client_pk,
    createdAtMs: row.created_ms,
    expiresAtMs: row.expires_ms,
    label: row.label,
    revokedAtMs: row.revoked_ms,
    scopes: JSON.parse(row.scopes) as Scope[],
    permissions: JSON.parse(row.permissions) as Permission[],
  };
}

function hashOf(secret: Uint8Array): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
