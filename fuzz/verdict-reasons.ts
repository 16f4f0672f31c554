import type { VerdictRequest } from './verdict-requests.ts';

/** A rule that JSON Schema cannot express, so that the server rejects (error 7) a request that the schema accepts. */
interface Reason {
  /** The end of the paths that the rule is about; all paths if it is left out. */
  readonly path?: RegExp;
  /** The field that `data.issues` names. */
  readonly field: RegExp;
  readonly when?: (request: VerdictRequest) => boolean;
  readonly why: string;
}

/** All such rules. Any other request that the schema accepts must not be error 7. */
export const REASONS: readonly Reason[] = [
  {
    path: /\/(pay|withdraw_lnurl)$/,
    field: /^(payable|lnurl)$/,
    why: 'is required in the body or the query, and a schema is of one of them',
  },
  {
    path: /\/(pay|withdraw_lnurl)$/,
    field: /^(payable|lnurl|amount)$/,
    when: ({ query, body }) => Object.keys(query).some((name) => hasMember(body, name)),
    why: 'must be the same in the body and the query',
  },
  {
    path: /\/(pay|pay_\w+|withdraw_lnurl)$/,
    field: /^(message|personal_note|description)$/,
    when: ({ query, body }) =>
      Object.keys(query).some((name) => hasMember(body, name) || hasMember(body, 'note')),
    why: 'must be the same in the body and the query',
  },
  {
    path: /\/fetch$/,
    field: /^Idempotency-Key$/,
    why: 'is required, and a schema of the body knows no headers',
  },
  {
    path: /\/fetch$/,
    field: /^(url|headers)$/,
    why: 'an URL and headers have forms of their own',
  },
  {
    path: /\/(create|verify)_paywall$/,
    field: /^request_hash$/,
    when: ({ body }) => hasMember(body, 'request'),
    why: 'must be the hash of the request, where both are given',
  },
  {
    path: /\/console\/session$/,
    field: /^(credentials)?$/,
    why: 'exactly one of link and credentials is given, and credentials hold no spaces',
  },
  {
    path: /\/analyze$/,
    field: /^(payable|payment_string)$/,
    why: 'one of the two names is needed, and both must be the same',
  },
  {
    field: /(^|\.)(payable|payment_string|invoice|offer|address|lnurl)$/,
    why: 'a payment string has prefix, checksum and network',
  },
  {
    path: /\/(pay|pay_invoice|pay_offer|pay_lnurl|pay_onchain|withdraw_lnurl)$/,
    field: /^(amount|fallback_amount)$/,
    why: 'must fit the payable: be given where it has none, and lie in its bounds',
  },
  {
    path: /\/(pay|pay_offer|pay_lnurl)$/,
    field: /^message$/,
    why: 'must fit what the method of the payable can carry',
  },
  {
    field: /(note|description|message|label|payer_name|external_id|text)$/,
    when: ({ texts }) => texts.some((text) => !text.isWellFormed() || hasLongCharacters(text)),
    why: 'no keyword counts bytes of UTF-8 (x-max-bytes says them) or knows lone surrogates',
  },
  {
    field: /^external_id$/,
    when: ({ texts }) => texts.some((text) => /\p{Cc}/u.test(text)),
    why: 'no keyword names control characters',
  },
  {
    path: /\/(pay_invoice|update_personal_note)$/,
    field: /^note$/,
    when: ({ body }) => hasMember(body, 'personal_note'),
    why: 'must be the same as personal_note',
  },
  {
    field: /(^|\.)currency$/,
    why: 'which codes of three letters are currencies stands in a list of the runtime',
  },
  {
    field: /^price(\.amount)?$/,
    why: 'has no more decimals than its currency, and is worth at least 1 msat',
  },
  {
    path: /\/settle_invoice$/,
    field: /^preimage$/,
    why: 'must hash to the payment hash of the invoice',
  },
  {
    path: /\/create_payer_proof$/,
    field: /disclos/,
    why: 'some types of a proof cannot be disclosed',
  },
  {
    path: /\/(create|update)_client$/,
    field: /^expires_at$/,
    why: 'must lie in the future',
  },
  {
    path: /\/webhooks\/endpoints$/,
    field: /^(url|secret)$/,
    why: 'a URL can be read, and a secret is base64 of 24 to 64 bytes',
  },
  {
    path: /\/webhooks\/endpoints\/(delete|renew)$/,
    field: /^id$/,
    when: ({ body }) => hasMember(body, 'id') && (body as { id: unknown }).id === 'configured',
    why: 'the endpoint of --webhook-url is not changed over HTTP',
  },
  {
    path: /\/create_client$/,
    field: /^nwc\.(relays|app)/,
    why: 'relays are required without --nwc-relay, and are URLs; not every hex is a public key',
  },
  {
    path: /\/sandbox\/(pay|lnurl|clock|fund)$/,
    field: /^(amount|max_amount|advance_secs)$/,
    why: 'must fit the payable, min_amount, or a date before the year 3000',
  },
];

function hasMember(body: unknown, name: string): boolean {
  return typeof body === 'object' && body !== null && name in body;
}

function hasLongCharacters(text: string): boolean {
  return Buffer.byteLength(text) > [...text].length;
}

/** Returns the rule by which the server may reject a field of a request that the schema accepts, or null. */
export function reasonFor(request: VerdictRequest, field: string): string | null {
  const found = REASONS.find(
    ({ path, field: fields, when }) =>
      (path?.test(request.path) ?? true) && fields.test(field) && (when?.(request) ?? true),
  );
  return found?.why ?? null;
}
