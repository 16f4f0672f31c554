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
  index: 'The index',
  label: '--label',
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
  settle_invoice: 'settle',
  sync_payments: 'sync',
  verify_payer_proof: 'proof verify',
  withdraw_lnurl: 'withdraw',
};

/** Messages about endpoints that only some sidecars have, by the beginning of the sidecar's own message. */
const MISSING: Readonly<Record<string, string>> = {
  'No such endpoint: POST /sandbox/':
    'This sidecar does not run on the sandbox node, and only that has these controls: "wallet-sidecar dev" starts one.',
};

/** Returns a message of the sidecar with fields and endpoints as a person at the command line knows them. */
export function inOwnWords(message: string): string {
  const missing = Object.entries(MISSING).find(([start]) => message.startsWith(start));
  return (missing?.[1] ?? message)
    .replace(/^([A-Za-z_.-]+): (.)/, (whole, field: string, first: string) => {
      const name = FIELDS[field];
      if (name === undefined) return whole;
      // A message in capitals is a sentence of its own.
      return first === first.toUpperCase() && /\p{L}/u.test(first) ? first : `${name} ${first}`;
    })
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
      const command = ENDPOINTS[name];
      if (command !== undefined) return `"wallet-sidecar ${command}"`;
      return FIELDS[name]?.replace(/^The /, 'the ') ?? name;
    });
}
