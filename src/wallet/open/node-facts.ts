import type { FeedStanding } from '../session/feed-standing.ts';
import type { Session } from '../session/session.ts';

/** The groups of the node port that a node may lack, and the name that callers know each by. */
const ABILITIES = {
  offers: 'offers',
  spontaneous: 'spontaneous',
  holdInvoices: 'hold_invoices',
  onchain: 'onchain',
  channels: 'channels',
  tokens: 'clients',
  proofs: 'proofs',
} as const;

/** What every ability is called. */
export const ABILITY_NAMES = Object.values(ABILITIES);

interface NodeFacts {
  readonly kind: string;
  /** The Bitcoin network, such as `bitcoin`. */
  readonly network: string;
  /** What the node can do that others cannot (docs/decisions.md 76). */
  readonly abilities: readonly (typeof ABILITY_NAMES)[number][];
  /** How the node's changes are followed now; null while nothing asks for them. */
  readonly feed: FeedStanding | null;
  /** False while clients with a budget cannot spend, until the owner confirms the budgets (docs/decisions.md 69). */
  readonly areBudgetsConfirmed: boolean;
}

/** Returns what a session's node is and can do. Asks the node nothing. */
export function nodeFacts({ node, feed, guard }: Session): NodeFacts {
  const groups = Object.keys(ABILITIES) as (keyof typeof ABILITIES)[];
  return {
    kind: node.descriptor.kind,
    network: node.descriptor.network,
    abilities: groups.filter((group) => node[group] !== undefined).map((group) => ABILITIES[group]),
    feed: feed.standing,
    areBudgetsConfirmed: guard.problem() === null,
  };
}
