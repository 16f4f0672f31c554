import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ConnectedWallet, NodeConnector, WalletNode } from '../../../src/nodes/node.ts';

/** The optional groups of the port. */
export const GROUPS = [
  'history',
  'notes',
  'offers',
  'spontaneous',
  'holdInvoices',
  'onchain',
  'channels',
  'tokens',
  'proofs',
] as const satisfies readonly (keyof WalletNode)[];

/** One of {@link GROUPS}. */
export type Group = (typeof GROUPS)[number];

/** What others do to the wallet under test, and what time does. */
export interface Outside {
  /** An invoice of somebody else. `hold` leaves its payment pending until {@link decide}. */
  invoice(terms: {
    readonly amountMsat: bigint;
    readonly behavior: 'settle' | 'fail' | 'hold';
    readonly expirySecs?: number;
  }): Promise<{ readonly invoice: string; readonly hash: string }>;
  /** Ends the payment of a held invoice. */
  decide(hash: string, settle: boolean): Promise<void>;
  /** Pays an invoice of the wallet in full; throws when it cannot be paid. */
  pays(invoice: string): Promise<void>;
  /** Pays an invoice of the wallet that the wallet will hold. Throws when it is not held. */
  paysHeld(invoice: string): Promise<void>;
  /** An address of somebody else. */
  address(): string;
  /** Sends coins to the wallet, confirmed. */
  sendsCoins(address: string, amountMsat: bigint): Promise<void>;
  mine(blocks: number): Promise<void>;
  /** An offer of somebody else, of any amount; null where the kind has no offers. */
  readonly offer: (() => Promise<string>) | null;
  /** Moves the node's clock, and the sidecar's with it. */
  advanceClock(secs: number): Promise<void>;
  /** Breaks every connection to the node, which takes none before it is back; null where there is none. */
  readonly cut: { away(): Promise<void>; back(): Promise<void> } | null;
}

/** A node with a funded wallet, and the world around it. */
export interface NodeWorld {
  readonly connector: NodeConnector;
  /** Opens the wallet as its owner, as often as one likes. */
  openOwner(): Promise<ConnectedWallet>;
  readonly outside: Outside;
  close(): Promise<void>;
}

/** A rule that a kind cannot keep. */
export interface CannotKeep {
  readonly rule: string;
  /** Why not, in words that fit after "not on <kind>". */
  readonly reason: string;
}

/** A kind of node, as its contract is run. */
export interface NodeKindUnderTest {
  /** The descriptor's. */
  readonly kind: string;
  /** The optional groups that it has; all others must be absent. */
  readonly groups: readonly Group[];
  readonly cannot: readonly CannotKeep[];
  open(): Promise<NodeWorld>;
}

/** What the rules of one file are written with. */
export interface Rules {
  /** The world, opened once for all rules of a kind. */
  world(): NodeWorld;
  /** The wallet under test, opened by its owner. */
  wallet(): ConnectedWallet;
  /** A rule of every kind, but for those that declare why they cannot keep it. */
  rule(name: string, body: (node: WalletNode, outside: Outside) => Promise<void>): void;
  /** Rules of an optional group, of every kind that has it. */
  group<G extends Group>(
    name: G,
    rules: (
      rule: (
        name: string,
        body: (
          group: NonNullable<WalletNode[G]>,
          node: WalletNode,
          outside: Outside,
        ) => Promise<void>,
      ) => void,
    ) => void,
  ): void;
}

/** Runs rules on a kind, and checks that what it declares as impossible are rules of the contract. */
export function runRules(
  kind: NodeKindUnderTest,
  files: readonly ((rules: Rules) => void)[],
): void {
  describe(`a node of kind ${kind.kind}`, () => {
    let world: NodeWorld;
    let wallet: ConnectedWallet;
    beforeAll(async () => {
      world = await kind.open();
      wallet = await world.openOwner();
    }, 60_000);
    afterAll(() => world.close(), 60_000);
    const named = new Set<string>();
    const skip = (name: string, reason: string) =>
      test.skip(`${name} (not on ${kind.kind}: ${reason})`, () => undefined);
    const rule: Rules['rule'] = (name, body) => {
      named.add(name);
      const cannot = kind.cannot.find((one) => one.rule === name);
      if (cannot) skip(name, cannot.reason);
      else test(name, () => body(wallet.node, world.outside), 60_000);
    };
    const rules: Rules = {
      world: () => world,
      wallet: () => wallet,
      rule,
      group(group, write) {
        const isThere = kind.groups.includes(group);
        write((name, body) => {
          if (!isThere) return skip(name, `it has no ${group}`);
          rule(name, async (node, outside) => {
            const there = node[group];
            if (there === undefined) throw new Error(`the node has no ${group}`);
            await body(there as NonNullable<typeof there>, node, outside);
          });
        });
      },
    };
    for (const file of files) file(rules);

    test('has the optional groups that its kind says, and no others', () => {
      expect(GROUPS.filter((group) => wallet.node[group] !== undefined)).toEqual(
        GROUPS.filter((group) => kind.groups.includes(group)),
      );
    });

    test('what it is declared not to keep are rules of this suite, each with a reason', () => {
      expect(kind.cannot.filter(({ rule, reason }) => !named.has(rule) || reason === '')).toEqual(
        [],
      );
    });
  });
}
