import { describe, expect, test } from 'bun:test';
import type { DeviceRecord, Store } from '../../../src/store/ports.ts';
import { CLIENT, WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);

/** Browsers that stay signed in as clients: {@link DeviceStore}. */
export function deviceContract(open: () => Promise<Store>): void {
  describe('devices', () => {
    const device: DeviceRecord = {
      walletId: WALLET,
      id: '01'.repeat(32),
      keyHash: '02'.repeat(32),
      clientPk: CLIENT,
      origin: 'https://till.example',
      createdAtMs: 5,
      usedAtMs: 5,
    };

    test('are found and listed in their wallet, with their last use', async () => {
      const { devices } = await open();
      const second = { ...device, id: '03'.repeat(32) };
      await devices.add(second);
      await devices.add(device);
      expect(await devices.find(WALLET, device.id)).toEqual(device);
      expect(await devices.find(OTHER, device.id)).toBeNull();
      expect(await devices.list(WALLET)).toEqual([device, second]);
      expect(await devices.list(OTHER)).toEqual([]);
      await devices.used(WALLET, device.id, 9);
      expect(await devices.find(WALLET, device.id)).toEqual({ ...device, usedAtMs: 9 });
    });

    test('are gone for ever when they are removed, also by a use that comes after', async () => {
      const { devices } = await open();
      await devices.add(device);
      await devices.remove(WALLET, device.id);
      await devices.used(WALLET, device.id, 9);
      expect(await devices.find(WALLET, device.id)).toBeNull();
      expect(await devices.list(WALLET)).toEqual([]);
    });
  });
}
