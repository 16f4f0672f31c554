import { hex } from '@scure/base';
import type { Clock } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import { hashOf } from '../../lib/secrets/hash-of.ts';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { isActive } from '../../model/clients/client.ts';
import type { Store } from '../../store/ports.ts';
import { type ConsoleSession, endedSession, type SessionSecrets } from './sessions.ts';

/** How long a device stays signed in, in milliseconds. */
export const DEVICE_MS = 30 * 86_400_000;
/** The time of its last use is kept to the hour, so that not every request is a write. */
const USE_MS = 3_600_000;
/** The most devices of a client; a further one replaces the one that was used longest ago. */
const MOST_OF_CLIENT = 10;

/** Timers hold no more; it also bounds how long a jump of the clock goes unnoticed. */
const LONGEST_TIMER_MS = 60_000;

const SECRET_BYTES = 32;
const KIND = 'device';

interface Device {
  /** Hex SHA-256 of the half that the browser has in its cookie. */
  readonly id: string;
  /** Hex SHA-256 of the half that the page keeps. */
  readonly keyHash: string;
  readonly clientPk: string;
  /** The origin of the page that signed in. */
  readonly origin: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/** What devices are kept with. */
export interface DevicesOptions {
  readonly store: Pick<Store, 'connectorState' | 'clients'>;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
}

/** Returns the devices that the store keeps: the browsers that stay signed in as clients (docs/decisions.md 196). */
export function openDevices({ store, clock, random }: DevicesOptions) {
  const { connectorState, clients } = store;
  /** By which open requests of a device end. */
  const open = new Map<string, AbortController>();
  const locks = keyedLock();

  /** Signs a device out, and ends its open requests. */
  async function end(walletId: string, id: string): Promise<void> {
    await connectorState.change(walletId, KIND, id, () => null);
    open.get(id)?.abort(endedSession());
    open.delete(id);
  }

  /** Those of active clients, used last first. Others are forgotten, so that no clock that goes back revives them. */
  async function list(walletId: string): Promise<Device[]> {
    const nowMs = clock.now();
    const active = (await clients.list(walletId)).filter((client) => isActive(client, nowMs));
    const keys = new Set(active.map(({ clientPk }) => clientPk));
    const all = [...(await connectorState.list(walletId, KIND)).values()] as Device[];
    const good = all.filter((one) => !isOver(one, nowMs) && keys.has(one.clientPk));
    for (const one of all) if (!good.includes(one)) await end(walletId, one.id);
    return good.toSorted((a, b) => b.usedAtMs - a.usedAtMs);
  }

  async function begin(
    walletId: string,
    { clientPk, origin }: Pick<Device, 'clientPk' | 'origin'>,
  ): Promise<SessionSecrets> {
    const others = (await list(walletId)).filter((one) => one.clientPk === clientPk);
    for (const { id } of others.slice(MOST_OF_CLIENT - 1)) await end(walletId, id);
    // The wallet's key says where the row is. It is no secret to who is signed in there.
    const id = `${walletId}${hex.encode(random(SECRET_BYTES))}`;
    const key = hex.encode(random(SECRET_BYTES));
    const nowMs = clock.now();
    const hashes = { id: hashOf(id), keyHash: hashOf(key) };
    const device = { ...hashes, clientPk, origin, createdAtMs: nowMs, usedAtMs: nowMs };
    await connectorState.put(walletId, KIND, device.id, device satisfies Device);
    return { id, key };
  }

  /** Ends the open requests of a device when its time is over. */
  function endInTime(walletId: string, device: Device, ended: AbortController): void {
    const { id, createdAtMs } = device;
    if (open.get(id) !== ended) return;
    const leftMs = createdAtMs + DEVICE_MS - clock.now();
    const again = () => endInTime(walletId, device, ended);
    if (leftMs > 0) setTimeout(again, Math.min(leftMs, LONGEST_TIMER_MS)).unref();
    else end(walletId, id).catch(() => ended.abort(endedSession()));
  }

  return {
    list,
    end,
    /** Signs a device in. One at a time of a client, so that none has more than the most. */
    begin: (walletId: string, signed: Pick<Device, 'clientPk' | 'origin'>) =>
      locks.run(signed.clientPk, () => begin(walletId, signed)),
    /** Returns the session of these halves; null when there is none, or its time is over. */
    async find({ id: secret, key }: SessionSecrets): Promise<ConsoleSession | null> {
      const [, walletId] = /^([0-9a-f]{64})[0-9a-f]{64}$/.exec(secret) ?? [];
      if (walletId === undefined) return null;
      const id = hashOf(secret);
      const found = (await connectorState.get(walletId, KIND, id)) as Device | null;
      if (found === null || !isSameSecret(hashOf(key), found.keyHash)) return null;
      const nowMs = clock.now();
      if (isOver(found, nowMs)) {
        await end(walletId, id);
        return null;
      }
      if (nowMs - found.usedAtMs >= USE_MS) {
        // It may have been signed out since it was read, and must not come back by this.
        const used = (device: unknown) => ({ ...(device as Device), usedAtMs: nowMs });
        await connectorState.change(walletId, KIND, id, used);
      }
      const { clientPk, origin } = found;
      let ended = open.get(id);
      if (ended === undefined) {
        ended = new AbortController();
        open.set(id, ended);
        endInTime(walletId, found, ended);
      }
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

function isOver({ createdAtMs }: Device, nowMs: number): boolean {
  return nowMs - createdAtMs >= DEVICE_MS;
}
