import { decodeOffer } from '../codecs/bolt12/index.ts';
import { ApiError } from '../model/errors.ts';
import type { HumanBitcoinAddress } from '../model/receive.ts';
import { nodeGroup, type Session, watch } from './session.ts';

/** The wallet's Human Bitcoin Address. Throws `notFound` (error 107) when none is claimed. */
export async function nameOf(session: Session): Promise<HumanBitcoinAddress> {
  const record = await nodeGroup(session, 'names').humanBitcoinAddress();
  if (record) return record;
  throw new ApiError(
    'notFound',
    'This wallet has no Human Bitcoin Address yet: claim one with PUT human_bitcoin_address.',
  );
}

/** Claims or changes the wallet's Human Bitcoin Address, and watches every payment that arrives on its offer. */
export async function claimUsername(
  session: Session,
  username: string,
): Promise<HumanBitcoinAddress> {
  const record = await nodeGroup(session, 'names').claimUsername(username);
  await watch(session, { kind: 'offer', offerId: decodeOffer(record.offer).offerId });
  return record;
}
