import { residentMb } from '../floors.ts';
import { newWallet, startSandbox } from '../sandbox.ts';
import type { Bench } from './part.ts';

const WALLETS = 1_000;
const ROUNDS = 3;

/** Measures the memory with many wallets that are all used, as the only load of the process. */
export async function measureWallets({ note, folder }: Bench): Promise<void> {
  const { pid, call, stop } = await startSandbox(folder);
  try {
    const wallets: string[] = [];
    while (wallets.length < WALLETS) wallets.push(await newWallet(call));
    const fresh = residentMb(pid);
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of wallets) await call('GET', '/v2/node/node_info', undefined, one);
    }
    const mb = residentMb(pid);
    note(`memory with ${WALLETS} wallets used in turn`, `${mb.toFixed(0)} MB`, {
      beside: `${fresh.toFixed(0)} MB, before they were used`,
      goal: { target: 'wallets', is: mb },
    });
  } finally {
    await stop();
  }
}
