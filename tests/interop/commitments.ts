import type { NodeSteps } from './harness/channels.ts';

/**
 * Waits until the channels have no HTLC left, for half a second at most. Nodes report a settled payment some
 * milliseconds before the channel's balances change, and the tests compare balances.
 */
export async function commitmentsSettled(nodes: readonly NodeSteps[]): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const pending = await Promise.all(nodes.map((node) => node.hasHtlcs()));
    if (!pending.includes(true)) return;
    await Bun.sleep(25);
  }
}
