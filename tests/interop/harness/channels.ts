import type { Btcd } from './btcd.ts';
import { waitForNode } from './wait-for-node.ts';

const ONCHAIN_SAT = 50_000_000n;
const CHANNEL_SAT = 10_000_000n;

/** What the other side gets of the first channel of a network: half of it. */
export const PUSH_SAT = 5_000_000n;

/** A node to which others connect. */
export interface Peer {
  readonly pubkey: string;
  /** The address for its peers, `host:port`. */
  readonly peerAddress: string;
}

/** What the harness does with a node, each kind of which does it in its own way. */
export interface NodeSteps extends Peer {
  readonly name: string;
  /** A new address of its wallet. */
  address(): Promise<string>;
  /** Its confirmed coins. */
  coinsSat(): Promise<bigint>;
  /** Whether it has read the blocks up to this height. */
  knowsBlock(height: number): Promise<boolean>;
  connect(to: Peer): Promise<unknown>;
  /** Opens a channel to a peer. Resolves when its transaction is published. */
  open(to: Peer, terms: ChannelTerms): Promise<unknown>;
  /** Closes its only channel with a peer together with it. Resolves when the transaction is published. */
  close(to: Peer): Promise<unknown>;
  /** Whether it can route over its first channel. */
  canRoute(): Promise<boolean>;
  /** Whether it knows the way over a channel of the other node. */
  reaches(other: NodeSteps): Promise<boolean>;
  /** Whether a channel of it has an HTLC. */
  hasHtlcs(): Promise<boolean>;
}

/** The terms of a new channel. */
export interface ChannelTerms {
  readonly fundingSat: bigint;
  readonly pushSat: bigint;
  readonly isPrivate: boolean;
}

/** Gives each node its coins on chain, as that many outputs, and waits until it has them. */
export async function fund(btcd: Btcd, nodes: readonly NodeSteps[], coins = 1n): Promise<void> {
  for (const node of nodes) {
    const output = { address: await node.address(), amountSat: ONCHAIN_SAT / coins };
    await btcd.send(Array.from({ length: Number(coins) }, () => output));
  }
  await btcd.generate(1);
  await Promise.all(
    nodes.map((node) =>
      waitForNode(`${node.name} has coins`, async () => (await node.coinsSat()) === ONCHAIN_SAT),
    ),
  );
}

/** Opens a channel and confirms it. {@link usable} waits until it can carry payments. */
export async function openChannel(
  btcd: Btcd,
  from: NodeSteps,
  to: NodeSteps,
  { pushSat = 0n, isPrivate = false }: Partial<Omit<ChannelTerms, 'fundingSat'>> = {},
): Promise<void> {
  await from.connect(to);
  // Both nodes refuse a channel until they have read the newest block.
  await caughtUp(btcd, [from, to]);
  await from.open(to, { fundingSat: CHANNEL_SAT, pushSat, isPrivate });
  await btcd.generate(6);
  await caughtUp(btcd, [from, to]);
}

/** Resolves when the nodes have read the newest block. */
export async function caughtUp(btcd: Btcd, nodes: readonly NodeSteps[]): Promise<void> {
  const tip = await btcd.height();
  await Promise.all(
    nodes.map((node) => waitForNode(`${node.name} knows block ${tip}`, () => node.knowsBlock(tip))),
  );
}

/** Resolves when the nodes can route over their first channels. */
export async function usable(nodes: readonly NodeSteps[]): Promise<void> {
  await Promise.all(
    nodes.map((node) => waitForNode(`${node.name} can route over its channel`, node.canRoute)),
  );
}

/** Resolves when `from` knows the way to `to`. */
export async function reached(from: NodeSteps, to: NodeSteps): Promise<void> {
  await waitForNode(`${from.name} knows the way to ${to.name}`, () => from.reaches(to));
}
