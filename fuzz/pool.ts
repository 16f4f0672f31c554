/** Values that a wallet made during the run, so that requests can name things that exist. */
export interface Pool {
  /** Returns recent values of that name; never empty for names that `setUp` fills. */
  values(name: PoolName): readonly string[];
  /** Stores the values of an answer that requests can use. */
  harvest(answer: unknown): void;
  add(name: PoolName, value: string): void;
}

/** The names of the values that are kept. */
export type PoolName = (typeof NAMES)[number];

const NAMES = [
  'index',
  // These are from invoices that may still be canceled, and from payments that can be proved.
  'open_index',
  'proof_index',
  'updated_index',
  'invoice',
  'offer',
  'address',
  'lnurl',
  'client_pk',
  'client_credentials',
  'channel_id',
  'payment_hash',
  'txid',
  'proof',
  'id',
  'endpoint',
  'node_pk',
  'human_bitcoin_address',
  'lightning_address',
] as const;

/** How many values of a name are kept; the oldest are dropped. */
const KEPT = 48;

const FOLDED: Readonly<Record<string, PoolName>> = {
  next_start_index: 'updated_index',
  next_index: 'index',
  redirect_url: 'invoice',
  payable: 'offer',
};

/** Creates an empty pool that never stores a value that contains one of `secrets`. */
export function openPool(secrets: readonly string[]): Pool {
  const kept = new Map<PoolName, string[]>(NAMES.map((name) => [name, []]));
  const add = (name: PoolName, value: string) => {
    const list = kept.get(name);
    if (!list || list.includes(value) || secrets.some((secret) => value.includes(secret))) return;
    list.push(value);
    if (list.length > KEPT) list.shift();
  };
  const harvest = (answer: unknown): void => {
    if (answer === null || typeof answer !== 'object') return;
    const { index, payment_secret, rail, direction, status } = answer as Readonly<
      Record<string, unknown>
    >;
    if (typeof index === 'string' && payment_secret !== undefined) add('open_index', index);
    if (
      typeof index === 'string' &&
      `${rail} ${direction} ${status}` === 'offer outbound completed'
    ) {
      add('proof_index', index);
    }
    for (const [name, value] of Object.entries(answer)) {
      const isEndpoint = name === 'id' && String(value).startsWith('ep_');
      const pooled = isEndpoint ? 'endpoint' : (FOLDED[name] ?? NAMES.find((one) => one === name));
      if (typeof value === 'string' && pooled) add(pooled, value);
      else harvest(value);
    }
  };
  return { values: (name) => kept.get(name) ?? [], harvest, add };
}
