import { channelsShape } from '../words/wire.ts';
import type { LndRest } from './rest.ts';
import type { LndOwned } from './wallet.ts';

/**
 * Whether the wallet had a public channel that is active, at most a minute ago: payers find it by that without route
 * hints. False where LND does not tell: needless hints do no harm.
 */
export function hasPublicChannel({ owner, wallet }: LndOwned): Promise<boolean> {
  return wallet.publicChannel.get(() => readFrom(owner).catch(() => false));
}

async function readFrom(owner: LndRest): Promise<boolean> {
  const path = '/v1/channels?active_only=true&public_only=true';
  return (await owner.list(path, channelsShape)).channels.length > 0;
}
