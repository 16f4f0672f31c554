import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { DEVICE_MS, openDevices } from '../../../src/http/console/devices.ts';
import type { ClientRecord } from '../../../src/model/clients/client.ts';
import type { Store } from '../../../src/store/ports.ts';
import { CLIENT, clientRecord, WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
const TILL = { clientPk: CLIENT, origin: 'https://till.example' };

function devicesAt() {
  const clock = { ms: 1_764_000_000_000, now: () => clock.ms };
  const rows = new Map<string, unknown>();
  const clients: ClientRecord[] = [clientRecord()];
  const uses: unknown[] = [];
  const store = {
    clients: { list: async () => clients },
    connectorState: {
      put: async (_: string, _kind: string, id: string, value: unknown) => void rows.set(id, value),
      get: async (walletId: string, _: string, id: string) =>
        walletId === WALLET ? (rows.get(id) ?? null) : null,
      list: async () => new Map(rows),
      async change(_: string, _kind: string, id: string, change: (value: unknown) => unknown) {
        if (!rows.has(id)) return;
        const next = change(rows.get(id));
        if (next === null) rows.delete(id);
        else uses.push(next);
        if (next !== null) rows.set(id, next);
      },
    },
  } as unknown as Store;
  const random = (bytes: number) => new Uint8Array(randomBytes(bytes));
  return { devices: openDevices({ store, clock, random }), clock, rows, clients, uses };
}

describe('a device (docs/decisions.md 196)', () => {
  test('is signed in by both halves, of which the store has hashes alone', async () => {
    const { devices, rows } = devicesAt();
    const secrets = await devices.begin(WALLET, TILL);
    const other = await devices.begin(WALLET, TILL);
    const found = await devices.find(secrets);
    expect(found).toMatchObject({ origin: TILL.origin, permissions: [] });
    expect(found?.credentials).toEqual({ clientPk: CLIENT, secret: secrets.id });
    const kept = JSON.stringify([...rows.values()]);
    for (const half of [secrets.id, secrets.id.slice(64), secrets.key]) {
      expect(kept).not.toContain(half);
    }
    const wrong = [
      { id: secrets.id, key: other.key },
      { id: other.id, key: secrets.key },
      { id: secrets.id.slice(64), key: secrets.key },
      { id: `${'cd'.repeat(32)}${secrets.id.slice(64)}`, key: secrets.key },
      { id: '', key: '' },
    ];
    for (const halves of wrong) expect(await devices.find(halves)).toBeNull();
  });

  test('stays for 30 days however little it is used, and no clock that goes back revives it', async () => {
    const { devices, clock, rows } = devicesAt();
    const secrets = await devices.begin(WALLET, TILL);
    clock.ms += DEVICE_MS - 1;
    expect(await devices.find(secrets)).not.toBeNull();
    clock.ms += 1;
    expect(await devices.find(secrets)).toBeNull();
    expect(rows.size).toBe(0);
    clock.ms -= DEVICE_MS;
    expect(await devices.find(secrets)).toBeNull();
  });

  test('notes its last use to the hour', async () => {
    const { devices, clock, uses } = devicesAt();
    const secrets = await devices.begin(WALLET, TILL);
    for (const ms of [1, HOUR_MS - 2, 1, 1]) {
      clock.ms += ms;
      await devices.find(secrets);
    }
    expect(uses).toEqual([expect.objectContaining({ usedAtMs: 1_764_000_000_000 + HOUR_MS })]);
    expect((await devices.list(WALLET))[0]?.usedAtMs).toBe(1_764_000_000_000 + HOUR_MS);
  });

  test('ends alone, with the requests that it has open', async () => {
    const { devices } = devicesAt();
    const [secrets, other] = [await devices.begin(WALLET, TILL), await devices.begin(WALLET, TILL)];
    const [session, kept] = [await devices.find(secrets), await devices.find(other)];
    await session?.end();
    expect([session?.ended.aborted, kept?.ended.aborted]).toEqual([true, false]);
    expect([await devices.find(secrets), await devices.find(other)]).toEqual([
      null,
      expect.anything(),
    ]);
  });

  test('is listed and kept only while its client is there', async () => {
    const { devices, clients, rows } = devicesAt();
    await devices.begin(WALLET, TILL);
    expect(await devices.list(WALLET)).toHaveLength(1);
    clients[0] = clientRecord({ revokedAtMs: 1 });
    expect(await devices.list(WALLET)).toEqual([]);
    expect(rows.size).toBe(0);
  });

  test('the eleventh of a client takes the place of the one that was used longest ago', async () => {
    const { devices, clock } = devicesAt();
    const all = [];
    for (let at = 0; at < 10; at++) {
      all.push(await devices.begin(WALLET, TILL));
      clock.ms += HOUR_MS;
    }
    const [first, second] = all;
    if (!first || !second) throw new Error('There are ten.');
    await devices.find(first);
    await devices.begin(WALLET, TILL);
    expect(await devices.find(second)).toBeNull();
    expect(await devices.find(first)).not.toBeNull();
    expect(await devices.list(WALLET)).toHaveLength(10);
  });

  test('has no eleventh beside it, however many sign in at the same time', async () => {
    const { devices } = devicesAt();
    await Promise.all(Array.from({ length: 25 }, () => devices.begin(WALLET, TILL)));
    expect(await devices.list(WALLET)).toHaveLength(10);
  });

  test('ends its open requests when its 30 days are over, although nothing is asked then', async () => {
    const { devices, clock, rows } = devicesAt();
    const secrets = await devices.begin(WALLET, TILL);
    clock.ms += DEVICE_MS - 20;
    const session = await devices.find(secrets);
    expect(session?.ended.aborted).toBe(false);
    clock.ms += 20;
    await until(() => session?.ended.aborted === true, 'the requests are ended');
    expect(rows.size).toBe(0);
  });
});
