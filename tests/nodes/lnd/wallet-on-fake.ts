import { randomBytes } from 'node:crypto';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type { PayOnchainCommand, WalletNode } from '../../../src/nodes/node.ts';
import { connectedOnFake } from './connected-on-fake.ts';

/** Of nobody that the fake knows. */
export const FOREIGN_ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

/** The id of an installation. */
export const MARK = 'aa'.repeat(16);

/** The node of {@link connectedOnFake}. */
export async function walletOnFake(
  ...options: Parameters<typeof connectedOnFake>
): Promise<WalletNode> {
  return (await connectedOnFake(...options)).node;
}

/** The on-chain part of a wallet. */
export function onchainOf({ onchain }: WalletNode): NonNullable<WalletNode['onchain']> {
  if (onchain === undefined) throw new Error('LND sends on chain');
  return onchain;
}

/** The channels of a wallet. */
export function channelsOf({ channels }: WalletNode): NonNullable<WalletNode['channels']> {
  if (channels === undefined) throw new Error('LND opens channels');
  return channels;
}

/** An order for a send of so many satoshis, under a fresh id unless one is given. */
export function sendCommand(
  amountSat: bigint,
  clientPaymentId: string = randomBytes(32).toString('hex'),
): PayOnchainCommand {
  const createdAtMs = Date.now();
  return {
    index: paymentIndex(createdAtMs, paymentId('os', clientPaymentId)),
    createdAtMs,
    amountMsat: amountSat * 1000n,
    personalNote: null,
    externalId: null,
    address: decodeAddress(FOREIGN_ADDRESS),
    priority: 'normal',
    maxFeeMsat: null,
  };
}
