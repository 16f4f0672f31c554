import type { Config } from '../config/config.ts';
import { hasDefaultWallet, hasUnreachableNames, isOpenToAll } from '../config/exposure.ts';
import { systemClock } from '../lib/clock.ts';
import type { Store } from '../store/ports.ts';
import type { StoreGuard } from '../wallet/session/ports.ts';
import type { DataCare } from './data-care.ts';
import type { Nodes } from './open-nodes.ts';
import type { UnfitRows } from './unfit-rows.ts';

/** What the wallets of this process have found wrong, for health. */
export interface Doubts {
  /** Indexes of payments that the node shows as completed without proof (docs/decisions.md 43). */
  readonly unproven: Set<string>;
  /** Indexes of payments of which the node reported what contradicts the wallet's own facts (docs/decisions.md 159). */
  readonly contradicted: Set<string>;
  /** Sentences about what nodes answered that was not what they were asked for (docs/decisions.md 160). */
  readonly unfit: Set<string>;
  /** Indexes of unfinished payments whose rows cannot be read (docs/decisions.md 178). */
  readonly unreadable: Set<string>;
}

/** Nothing is wrong yet. */
export function noDoubts(): Doubts {
  return {
    unproven: new Set(),
    contradicted: new Set(),
    unfit: new Set(),
    unreadable: new Set(),
  };
}

interface HealthOptions extends Doubts {
  readonly config: Config;
  readonly nodes: Pick<Nodes, 'problems' | 'kind'>;
  readonly guard: Pick<StoreGuard, 'problem'>;
  readonly data: Pick<DataCare, 'problems'>;
  readonly store: Pick<Store, 'problem'>;
  readonly rows: Pick<UnfitRows, 'problem'>;
  /** The relays of Nostr Wallet Connect that cannot be reached. */
  readonly relaysAway: () => readonly { readonly url: string }[];
  /** Whether any client has a budget now. */
  readonly hasBudgets: () => boolean;
  /** False until the wallet of `dev` is funded, so that what waits for health finds the money too. */
  readonly isTrialWalletReady: boolean;
}

/** The user of this process, who stays the same. */
const OWN_UID = process.geteuid?.();

/** Returns `ok`, or sentences that say what is missing and what to do. It never waits (docs/decisions.md 7). */
export function health(options: HealthOptions): string {
  const { config, nodes, guard, data, store, isTrialWalletReady } = options;
  const { unproven, contradicted, unfit, unreadable, rows } = options;
  const sentences: string[] = [];
  const add = (sentence: string | null) => {
    if (sentence !== null) sentences.push(sentence);
  };
  if (!isTrialWalletReady) add(TRIAL_WALLET);
  config.warnings.forEach(add);
  data.problems().forEach(add);
  add(store.problem());
  add(rows.problem());
  nodes.problems().forEach(add);
  add(guard.problem());
  for (const { url } of options.relaysAway()) add(relayAway(url));
  if (unproven.size > 0) add(unprovenWords(unproven, config));
  if (contradicted.size > 0) add(contradictedWords(contradicted, config));
  if (unreadable.size > 0) add(unreadableWords(unreadable, config));
  for (const problem of unfit) add(`${problem} It was not handed out: check the node.`);
  if (isOpenToAll(config)) add(outOfBudgets(options));
  if (nodes.kind !== 'sandbox' && hasUnreachableNames(config)) add(NAMES_OUT_OF_REACH);
  if (!hasDefaultWallet(config)) add(NO_CREDENTIALS);
  return sentences.length === 0 ? 'ok' : sentences.join(' ');
}

/**
 * Returns a sentence about the programs that the budgets of clients do not bound. Null where no client has one, and
 * where no such program is expected, as `uid`, the user of this process, is a service's own (docs/decisions.md 180).
 */
export function outOfBudgets(
  { config, hasBudgets }: Pick<HealthOptions, 'config' | 'hasBudgets'>,
  uid = OWN_UID,
): string | null {
  if (!hasBudgets()) return null;
  if (isOpenToAll(config)) return OPEN_WITH_BUDGETS;
  return isUsedByPeople(uid) ? SAME_USER : null;
}

/** Whether programs that people start may run as a user: as root, or as one of the numbers that people get. */
function isUsedByPeople(uid: number | undefined): boolean {
  if (uid === undefined || uid === 0) return true;
  return uid >= (process.platform === 'darwin' ? 500 : 1000) && uid <= 60_000;
}

/** Returns the store, and whether any client has a budget, which does not read it: health never waits. */
export async function watchBudgets(store: Store): Promise<{ store: Store; any: () => boolean }> {
  let any = await store.clients.anyBudget(systemClock.now());
  const change: Store['clients']['change'] = async (walletId, decide) => {
    const changes = await store.clients.change(walletId, decide);
    any = await store.clients.anyBudget(systemClock.now());
    return changes;
  };
  return { store: { ...store, clients: { ...store.clients, change } }, any: () => any };
}

const relayAway = (url: string) =>
  `The relay ${url} cannot be reached: applications that are paired over it wait, and it is tried again.`;
const NAMES_OUT_OF_REACH =
  'Payers cannot reach the names of --address-domain: set --sidecar-url to the https address under which they reach this sidecar.';
const UNPROVEN =
  'The node shows a payment as completed, but without a preimage or amount that fits, so it stays pending: the log names it; check the node.';
const TRIAL_WALLET = 'The sandbox wallet is being signed up and funded: ask again in a moment.';
const NO_CREDENTIALS =
  'No default credentials: send the Authorization header with every request, or start with --client-credentials-path, or with --root-seed-path and a seed that "wallet-sidecar seed new" makes. "wallet-sidecar dev" starts with a trial wallet.';
const OPEN_WITH_BUDGETS =
  'The budgets of clients protect nothing while every program that reaches this port can act as the owner: start the sidecar with --require-auth.';
const SAME_USER =
  "The budgets of clients hold only against programs that run as another user of the operating system than this sidecar: a program of its own user can read the owner's cookie and the wallet's secrets.";

/** Says that payments lack their proof. An index says when a payment was made, which is not for strangers. */
function unprovenWords(unproven: ReadonlySet<string>, { requireAuth }: Config): string {
  if (requireAuth) return UNPROVEN;
  return `The node shows payment ${named(unproven)} as completed, but without a preimage or amount that fits, so it stays pending: check the node.`;
}

function contradictedWords(contradicted: ReadonlySet<string>, config: Config): string {
  const which = shown(contradicted, config);
  return `The node reports another hash, or a lower cost, than ${which} can have: what is known without it counts. Check the node.`;
}

function unreadableWords(unreadable: ReadonlySet<string>, config: Config): string {
  return `The database row of ${shown(unreadable, config)} cannot be read, so it stays pending and is not sent again: the log says what is missing. Look at the node what became of it.`;
}

function shown(indexes: ReadonlySet<string>, { requireAuth }: Config): string {
  return requireAuth ? 'a payment' : `payment ${named(indexes)}`;
}

/** The first of some payments, and how many others there are. */
function named(indexes: ReadonlySet<string>): string {
  const [first] = indexes;
  return indexes.size > 1 ? `${first} and ${indexes.size - 1} more` : `${first}`;
}
