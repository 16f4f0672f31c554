import type { Config } from '../config/config.ts';
import { hasDefaultWallet, isOpenToAll } from '../config/exposure.ts';
import { systemClock } from '../lib/clock.ts';
import type { Store } from '../store/ports.ts';
import type { StoreGuard } from '../wallet/store-guard.ts';
import type { DataCare } from './data-care.ts';
import type { Nodes } from './open-nodes.ts';

interface HealthOptions {
  readonly config: Config;
  readonly nodes: Nodes;
  readonly guard: StoreGuard;
  readonly data: DataCare;
  /** Indexes of payments that the node calls completed without proof. */
  readonly unproven: ReadonlySet<string>;
  /** Whether any client has a budget now. */
  readonly hasBudgets: () => boolean;
  /** False until the wallet of `dev` is signed up and funded: a script that waits for health waits for that too. */
  readonly isTrialWalletReady: boolean;
}

/** `ok`, or sentences that say what is missing (decisions section 1). Waits for nothing. */
export function health(options: HealthOptions): string {
  const { config, nodes, guard, data, unproven, hasBudgets, isTrialWalletReady } = options;
  const sentences: string[] = [];
  const add = (sentence: string | null) => {
    if (sentence !== null) sentences.push(sentence);
  };
  if (!isTrialWalletReady) add(TRIAL_WALLET);
  config.warnings.forEach(add);
  data.problems().forEach(add);
  nodes.problems().forEach(add);
  add(guard.problem());
  if (unproven.size > 0) add(unprovenWords(unproven));
  if (hasBudgets() && isOpenToAll(config)) add(OPEN_WITH_BUDGETS);
  if (!nodes.root.reachable()) add('The wallet node did not answer when last asked.');
  if (!hasDefaultWallet(config)) add(NO_CREDENTIALS);
  return sentences.length === 0 ? 'ok' : sentences.join(' ');
}

/** Tells, without asking the store each time, whether any client has a budget. */
export async function watchBudgets(store: Store): Promise<{ store: Store; any: () => boolean }> {
  let any = await store.clients.anyBudget(systemClock.now());
  const change: Store['clients']['change'] = async (walletId, decide) => {
    const changes = await store.clients.change(walletId, decide);
    any = await store.clients.anyBudget(systemClock.now());
    return changes;
  };
  return { store: { ...store, clients: { ...store.clients, change } }, any: () => any };
}

const TRIAL_WALLET = 'The sandbox wallet is being signed up and funded: ask again in a moment.';
const NO_CREDENTIALS =
  'No default credentials: every request needs the Authorization header, or start with --root-seed-path or --client-credentials-path.';
const OPEN_WITH_BUDGETS =
  'Clients have budgets, but every program that reaches the port without a header is the owner: start with --require-auth.';

function unprovenWords(unproven: ReadonlySet<string>): string {
  const [first] = unproven;
  const others = unproven.size > 1 ? ` and ${unproven.size - 1} more` : '';
  return `The node calls payment ${first}${others} completed, but shows no preimage or amount that fits: it is kept pending. Check the node.`;
}
