import type { Network } from './harness/index.ts';

/**
 * Waits until the channels have no HTLC left, for half a second at most. LND reports a settled payment some
 * milliseconds before the channel's balances change, and the tests compare balances.
 */
export async function commitmentsSettled({
  alice,
  bob,
}: Pick<Network, 'alice' | 'bob'>): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const pending = await Promise.all(
      [alice, bob].map((node) =>
        node.rest<{ channels: { pending_htlcs: unknown[] }[] }>('GET', '/v1/channels'),
      ),
    );
    if (pending.every(({ channels }) => channels.every((one) => one.pending_htlcs.length === 0))) {
      return;
    }
    await Bun.sleep(25);
  }
}
