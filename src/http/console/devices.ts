import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import type { Clock } from '../../lib/clock.ts';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { isActive } from '../../model/clients/client.ts';
import type { DeviceRecord, Store } from '../../store/ports.ts';
import { type ConsoleSession, endedSession, type SessionSecrets } from './sessions.ts';

/** How long a device stays signed in, in milliseconds. */
export const DEVICE_MS = 30 * 86_400_000;
/** The time of its last use is kept to the hour, so that not every request is a write. */
const USE_MS = 3_600_000;
/** The most devices of a client; a further one replaces the one that was used longest ago. */
const MOST_OF_CLIENT = 10;

const SECRET_BYTES = 32;

/** What devices are kept with. */
export interface DevicesOptions {
  readonly store: Pick<Store, 'devices' | 'clients'>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
}

/** The browsers that stay signed in as clients (docs/decisions.md 196). */
export interface Devices {
  begin(device: Pick<DeviceRecord, 'walletId' | 'clientPk' | 'origin'>): Promise<SessionSecrets>;
  /** Returns the session of these halves; null when there is none, or its time is over. */
  find(secrets: SessionSecrets): Promise<ConsoleSession | null>;
  /** The devices of a wallet that are signed in as active clients, those that were used last first. */
  list(walletId: string): Promise<DeviceRecord[]>;
  /** Signs a device out, and ends its open requests. */
  end(walletId: string, id: string): Promise<void>;
}

/** Returns the devices that the store keeps. */
export function openDevices({ store, clock, random }: DevicesOptions): Devices {
  const { devices, clients } = store;
  /** By which open requests of a device end. */
  const open = new Map<string, AbortController>();

  async function end(walletId: string, id: string): Promise<void> {
    await devices.remove(walletId, id);
    open.get(id)?.abort(endedSession());
    open.delete(id);
  }

  /** The devices of the wallet. Those that are over are forgotten, so that a clock that goes back revives none. */
  async function list(walletId: string): Promise<DeviceRecord[]> {
    const nowMs = clock.now();
    const active = (await clients.list(walletId)).filter((client) => isActive(client, nowMs));
    const keys = new Set(active.map(({ clientPk }) => clientPk));
    const all = await devices.list(walletId);
    const good = all.filter((one) => !isOver(one, nowMs) && keys.has(one.clientPk));
    for (const one of all) if (!good.includes(one)) await end(walletId, one.id);
    return good.toSorted((a, b) => b.usedAtMs - a.usedAtMs);
  }

  return {
    list,
    end,
    async begin({ walletId, clientPk, origin }) {
      const others = (await list(walletId)).filter((one) => one.clientPk === clientPk);
      for (const { id } of others.slice(MOST_OF_CLIENT - 1)) await end(walletId, id);
      // The wallet's key says where the row is. It is no secret to who is signed in there.
      const id = `${walletId}${hex.encode(random(SECRET_BYTES))}`;
      const key = hex.encode(random(SECRET_BYTES));
      const nowMs = clock.now();
      const hashes = { id: hashOf(id), keyHash: hashOf(key) };
      const times = { createdAtMs: nowMs, usedAtMs: nowMs };
      await devices.add({ walletId, clientPk, origin, ...hashes, ...times });
      return { id, key };
    },
    async find({ id: secret, key }) {
      const [, walletId] = /^([0-9a-f]{64})[0-9a-f]{64}$/.exec(secret) ?? [];
      if (walletId === undefined) return null;
      const id = hashOf(secret);
      const found = await devices.find(walletId, id);
      if (found === null || !isSameSecret(hashOf(key), found.keyHash)) return null;
      const nowMs = clock.now();
      if (isOver(found, nowMs)) {
        await end(walletId, id);
        return null;
      }
      if (nowMs - found.usedAtMs >= USE_MS) await devices.used(walletId, id, nowMs);
      const { clientPk, origin } = found;
      const ended = open.get(id) ?? new AbortController();
      open.set(id, ended);
      return {
        caller: `${walletId} ${clientPk}`,
        credentials: { clientPk, secret },
        origin,
        // Each request is allowed what the client may do then.
        permissions: [],
        ended: ended.signal,
        end: () => end(walletId, id),
      };
    },
  };
}

function isOver({ createdAtMs }: DeviceRecord, nowMs: number): boolean {
  return nowMs - createdAtMs >= DEVICE_MS;
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
