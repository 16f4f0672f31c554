import { SCOPE_NAMES, SCOPES } from '../../model/clients/permissions.ts';
import type { RouteAccess, RouteGroup } from '../route.ts';

/** The purpose of each group of endpoints. The documentation page shows the same text. */
export const GROUP_DESCRIPTIONS: Readonly<Record<RouteGroup, string>> = {
  health: 'Whether the sidecar runs, its figures, and this documentation.',
  node: 'The wallet node: sign up once with the root seed, then read balances and identity.',
  receive: 'Invoices, offers, addresses and withdrawals, by which money arrives.',
  send: 'Understand a payment string, and pay it. Paying waits until the payment is final, unless told otherwise with `Prefer`.',
  payments: 'Read payments from the local cache, wait for them, annotate and cancel them.',
  events: 'Changes of payments as they happen, as server-sent events.',
  addresses: 'Human Bitcoin Addresses (BIP 353) of the wallet.',
  channels: 'Lightning channels of the node.',
  proofs: 'Proofs that an invoice of an offer was paid (BOLT 12).',
  agents: 'Agents',
  clients: 'Credentials for applications, with scopes and budgets; revocable.',
  webhooks:
    'Notices of finished payments: where they are sent, which were delivered, and sending them again.',
  console: 'The page for people, and how a browser signs in to it.',
  sandbox:
    'Controls of the simulated network; they exist only while the sandbox node is in use. With --require-auth all of them need credentials that may do everything.',
};

/**
 * Returns the tag of a group of endpoints. No tag has the name of a section of the document, such as `webhooks`, and
 * requests of the sidecar have a tag that no endpoint has: where names are the same, generated clients write one file
 * over another (docs/decisions.md 167).
 */
export function tagOf(group: RouteGroup): string {
  return group === 'webhooks' ? 'deliveries' : group;
}

/** The tag of the requests that the sidecar sends. */
export const WEBHOOK_TAG = 'notices';

/** Titles and texts about what all endpoints have in common. Code stands between backticks. */
export const CALLING: readonly (readonly [title: string, text: string])[] = [
  [
    'Values',
    'Bodies are JSON objects, sent with `content-type: application/json`; an empty body, or `null`, counts as `{}`. Amounts are satoshis: strings with up to three decimals such as `"1000"` or `"0.5"`, and in requests whole numbers too. Times are milliseconds since the UNIX epoch. For an optional field `null` is the same as leaving it out.',
  ],
  [
    'Credentials',
    `Send client credentials as \`Authorization: Bearer <CLIENT_CREDENTIALS>\`. Without the header the sidecar's default credentials are used; with \`--require-auth\` the header is required. Each endpoint says which permission it needs; scopes grant permissions: ${scopeWords()}.`,
  ],
  [
    'Idempotency-Key',
    'Give every POST under `/v2/node/` a key of its own, such as a random UUID, and repeat the request with the same key when no answer came: it is done once, and you get the first outcome, also after a restart. The same key with another request is error 111. Keys are kept for at least 7 days.',
  ],
  [
    'Prefer',
    'Paying waits until the payment is completed or failed. With `Prefer: respond-async` you get 202 and the pending payment as soon as the node has answered, with `Prefer: wait=10` ten seconds later; then wait for its end by `wait_for_payment`, by the events, or by webhook.',
  ],
  [
    'Outcomes',
    'A payment with `status` `pending` may still move money: wait for its end, and do not pay anew. `completed` and `failed` are final: the money has moved, or it has not and never will. An outcome is unknown when no answer came, and when an error has `data.sent` `"unknown"`: repeat the request with the same Idempotency-Key, or read the payment at `data.index` where there is one. Never pay again under another key before you know that nothing was sent.',
  ],
  [
    'Errors',
    'Every error has the body `{code, msg, data, sensitive}`; `msg` says what happened and what to do. A payment that was tried and failed is no error: it is 200 with `status: "failed"`. Where an error follows a request that moves money, `data.sent` says whether anything may have been sent: `"no"`, `"unknown"`, or of `fetch` `"yes"`. Give the header `x-request-id` when you look into the log.',
  ],
  [
    'Unknown fields',
    'Body fields and query parameters that an endpoint does not know are ignored, and named in the header `X-Ignored-Fields` of the answer. In `create_client`, `update_client` and `budget` they are error 7.',
  ],
];

function scopeWords(): string {
  return SCOPE_NAMES.map((scope) => {
    const granted = scope === 'full' ? ['all'] : SCOPES[scope].map((name) => `\`${name}\``);
    return `\`${scope}\` grants ${granted.join(', ')}`;
  }).join('; ');
}

/** What the description of an endpoint or field says that the API's specification does not have. */
export const ADDITION = 'An addition: other servers of this API may not have it.';

const ACCESS_WORDS: Readonly<Record<string, string>> = {
  public: 'Needs no credentials.',
  authenticated: 'Needs any valid credentials.',
  owner: "Needs the owner: root seed, the node's own credentials, or cookie.",
  root_seed:
    'Needs the root seed, and the cookie or no Authorization header; with --require-auth, the cookie.',
  sandbox: 'Open without --require-auth.',
  sandbox_wallet: 'Needs any valid credentials.',
};

/** Says in words who may call a route. */
export function accessSentence(access: RouteAccess): string {
  if (typeof access === 'string')
    return ACCESS_WORDS[access] ?? `Needs the permission \`${access}\`.`;
  const names = access.map((permission) => `\`${permission}\``).join(', ');
  return `Needs one of ${names}.`;
}
