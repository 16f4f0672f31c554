import type { MixedWorld } from './mixed.ts';
import { makePair, newWallet, startSandbox } from './sandbox.ts';

/** A sidecar that is ready for a mixed load. */
export interface RunningWorld extends MixedWorld {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Starts a sidecar with a payer, an offer and a paid invoice. */
export async function startMixedWorld(folder: string): Promise<RunningWorld> {
  const { port, pid, call, stop } = await startSandbox(folder);
  const payer = await newWallet(call);
  const { index = '' } = await makePair(call, payer);
  const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
  return { port, pid, payer, offer, index, stop };
}
