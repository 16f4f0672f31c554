/** Fields of requests as the command line calls them. Others are called by their own names. */
const FIELDS: Readonly<Record<string, string>> = {
  'Idempotency-Key': '--idempotency-key',
  'Last-Event-ID': '--after',
  advance_secs: 'The time to move by',
  amount: 'The amount',
  'budget.amount': '--budget',
  'budget.max_payment': '--max-payment',
  channel_id: 'The channel',
  client_pk: 'The client',
  count: 'The number of blocks',
  description: '--description',
  description_hash: '--description-hash',
  expiration_secs: '--expiry',
  expires_at: '--expires',
  external_id: '--external-id',
  index: 'The index',
  label: '--label',
  lease_secs: '--lease',
  limit: '--limit',
  lnurl: 'The LNURL',
  max_amount: 'The largest amount',
  max_fee: '--max-fee',
  message: '--message',
  min_amount: 'The smallest amount',
  node_pk: 'The node',
  payable: 'The payment string',
  payment_hash: '--payment-hash',
  payment_string: 'The payment string',
  peer: '--peer',
  personal_note: 'The note',
  preimage: 'The preimage',
  price: '--price',
  proof_note: '--note',
  start_index: '--after',
  timeout_secs: '--timeout',
  user_channel_id: '--id',
  username: 'The name',
  value: 'The size of the channel',
};

/** Endpoints that messages of the sidecar name, as commands. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  cancel_payment: 'cancel',
  create_invoice: 'invoice',
  human_bitcoin_address: 'name claim',
  node_info: 'info',
  provision: 'provision',
  settle_invoice: 'settle',
  signup: 'signup',
  sync_payments: 'sync',
  verify_payer_proof: 'proof verify',
  withdraw_lnurl: 'withdraw',
};

/** Messages that a person at the command line can do nothing with, by the beginning of the sidecar's own message. */
const REPLACED: Readonly<Record<string, string>> = {
  'Delivery not found': 'No delivery has this id: "wallet-sidecar webhooks list" shows them.',
  'This needs the root seed of the sidecar':
    "This needs the root seed of the sidecar and its owner's cookie: call without client credentials.",
  'No such endpoint: POST /sandbox/':
    'This sidecar does not run on the sandbox node, and only that has these controls: "wallet-sidecar dev" starts one.',
};

interface Issue {
  /** Empty where it concerns the request as a whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * Returns a message of the sidecar with fields and endpoints as a person at the command line knows them. The first
 * issue of a rejected request says which field its message is about.
 */
export function inOwnWords(message: string, [issue]: readonly Issue[]): string {
  const replaced = Object.entries(REPLACED).find(([start]) => message.startsWith(start));
  const words = replaced?.[1] ?? (issue && aboutField(issue)) ?? message;
  return words
    .replace(/\b(call )?(?:PUT|POST) (?:\/v2\/node\/)?(\w+)/g, (whole, call, endpoint: string) => {
      const command = commandOf(endpoint);
      if (command === null) return whole;
      return call === undefined ? command : `run ${command}`;
    })
    .replace(
      // The names of permissions are those that the owner grants.
      /(?<!\bpermission )\b[a-z]+(?:_[a-z]+)+\b/g,
      (word) => commandOf(word) ?? FIELDS[word]?.replace(/^The /, 'the ') ?? word,
    );
}

function aboutField({ path, message }: Issue): string | null {
  const name = FIELDS[path];
  if (name === undefined) return null;
  // A message in capitals, or with a subject besides the field, is a sentence of its own.
  if (!/^(?:\p{Lu}|(?:an?|say|the|this)\b)/u.test(message)) return `${name} ${message}`;
  return message.charAt(0).toUpperCase() + message.slice(1);
}

function commandOf(endpoint: string): string | null {
  const command = ENDPOINTS[endpoint];
  return command === undefined ? null : `"wallet-sidecar ${command}"`;
}
