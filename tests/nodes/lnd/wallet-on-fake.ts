import { randomBytes } from 'node:crypto';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import type { PayOnchainCommand, WalletNode } from '../../../src/nodes/node.ts';
import type { ConnectorRows } from '../../../src/nodes/remote-kind.ts';
import type { FakeLnd } from '../../hostile/fake-lnd.ts';
import type { ProxyTarget } from '../../hostile/fault-proxy.ts';
import { memoryState } from '../../support/memory-state.ts';

/** Of nobody that the fake knows. */
export const FOREIGN_ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

/** The id of an installation. */
export const MARK = 'aa'.repeat(16);

/** Opens the wallet of a fake LND, reached at `target`, as a process of the installation does when it starts. */
export async function walletOnFake(
  fake: FakeLnd,
  target: ProxyTarget,
  {
    mark = MARK,
    elapsedMs,
    state = memoryState(),
  }: { mark?: string; elapsedMs?: () => number; state?: ConnectorRows } = {},
): Promise<WalletNode> {
  const entry = {
    kind: 'lnd' as const,
    url: target.url,
    cert: target.cert,
    nodePk: fake.pubkey,
    network: 'regtest' as const,
    token: fake.adminMacaroon,
  };
  const connector = openLnd({
    state,
    clock: { now: () => Date.now() },
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    ...(elapsedMs && { elapsedMs }),
    root: null,
    entries: [entry],
    proxy: null,
    channelPeer: { pubkey: `02${'ab'.repeat(32)}`, host: '127.0.0.1:1' },
    mark,
  });
  return (await connector.connectConfigured(entry)).node;
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
