import type { PaymentIndex } from '../../../model/payment-index.ts';
import { insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { announceWork } from './waiting-work.ts';

/** A payment that waits for the confirmations of its transaction, or of the one that replaces it. */
export interface Watch {
  readonly userPk: string;
  readonly index: PaymentIndex;
  readonly txid: string;
}

/** Makes the payment complete once its transaction has 6 confirmations. */
export function watchConfirmations(world: World, { userPk, index, txid }: Watch): void {
  insertRow(world, 'chain_watches', { user_pk: userPk, payment_index: index, txid });
  announceWork(world);
}
