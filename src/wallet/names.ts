import { decodeOffer } from '../codecs/bolt12/index.ts';
import type { HumanBitcoinAddress } from '../model/receive.ts';
import { nodeGroup, type Session, watch } from './session.ts';

/** Claims or changes the wallet's name and watches every payment that will arrive on its offer. */
export async function claimUsername(
  session: Session,
  username: string,
): Promise<HumanBitcoinAddress> {
  const record = await nodeGroup(session, 'names').claimUsername(username);
  await watch(session, { kind: 'offer', offerId: decodeOffer(record.offer).offerId });
  return record;
}
