/** What the sidecar and its node can do: the answer of GET /v2/console/about. */
export interface About {
  readonly version: string;
  readonly node_kind: string;
  /** The Bitcoin network, such as `bitcoin`. */
  readonly network: string;
  readonly abilities: readonly Ability[];
  readonly feed: {
    readonly state: 'caught_up' | 'behind' | 'no_credentials';
    readonly since: number;
  } | null;
  readonly user_pk: string;
  /** The caller, to whom Idempotency-Keys belong. */
  readonly caller: string;
  /** Whether the caller is the wallet's owner. */
  readonly owner: boolean;
  /** False while clients with a budget cannot spend, until the owner confirms the budgets. */
  readonly budgets_confirmed: boolean;
  /** Whether prices in a currency can be asked for. */
  readonly rates: boolean;
  /** Whether the controls of the sandbox are there. */
  readonly sandbox: boolean;
}

/** What a node can do that others cannot. */
export type Ability =
  | 'offers'
  | 'spontaneous'
  | 'hold_invoices'
  | 'onchain'
  | 'channels'
  | 'clients'
  | 'proofs';

/** A browser that stays signed in as a client. */
export interface Device {
  readonly id: string;
  readonly client_pk: string;
  readonly created_at: number;
  readonly used_at: number;
}

/** The wallet that a one-time link opens. */
export interface LinkedWallet extends Pick<About, 'user_pk' | 'node_kind' | 'network' | 'owner'> {
  /** The label of the client as which the link signs in; null without one. */
  readonly label: string | null;
  /** Whether the link is for a device, which stays signed in. */
  readonly device: boolean;
}
