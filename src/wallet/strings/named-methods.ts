import { readOr } from '../../codecs/codec-error.ts';
import { formatAmountMsat } from '../../model/amount.ts';
import { type ApiError, isApiError, refused } from '../../model/errors.ts';
import { readOrReject } from '../../model/read-or-error.ts';
import { serviceFailed } from '../../net/service-error.ts';
import type { PaymentServices } from './payment-services.ts';
import { type NamedMethod, type PaymentString, parsePaymentString } from './payment-string.ts';

/** A method, and the name that led to it. */
export interface FoundMethod {
  readonly method: NamedMethod;
  /** The `name@domain` whose record holds the method; null when the payment string holds it. */
  readonly viaName: string | null;
}

interface FoundMethods {
  readonly methods: readonly FoundMethod[];
  /** The reasons why other methods cannot be read or reached. */
  readonly obstacles: readonly ApiError[];
  /** The amount that the URI sets for all methods; null when it sets none. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
}

/**
 * Reads a payment string and looks up the name in it. Throws error 7 for `path` when the text is not a payment string,
 * and error 106 when it has an unknown required parameter or amounts that contradict each other (docs/decisions.md 96).
 */
export async function findMethods(
  text: string,
  path: string,
  services: PaymentServices,
): Promise<FoundMethods> {
  const given = readGiven(text, path);
  requireUnderstood(given, 'The bitcoin: URI');
  const record = await recordOf(given, services);
  const found = joinRecord(given, record);
  requireOneAmount(
    found.methods.map(({ method }) => method),
    found.amountMsat,
  );
  return found;
}

function readGiven(text: string, path: string): PaymentString {
  return readOrReject(path, () => parsePaymentString(text));
}

function requireUnderstood({ requiredUnknown: [name] }: PaymentString, subject: string): void {
  if (name === undefined) return;
  const shown = /^[a-z0-9._-]{1,40}$/.test(name) ? `the parameter "${name}"` : 'a parameter';
  throw refused(
    `${subject} must not be paid: it requires ${shown}, which this wallet does not know. Ask the receiver for another way to pay.`,
  );
}

/** The record of the name in a payment string, or the error that says why there is none to use. Null without a name. */
async function recordOf(
  { name }: PaymentString,
  services: PaymentServices,
): Promise<PaymentString | ApiError | null> {
  if (name === null) return null;
  try {
    const text = await services.resolveName(name);
    const record = readOr(
      () => parsePaymentString(text),
      (error) => unusableRecord(error.message, error),
    );
    if (isApiError(record)) return record;
    if (record.name !== null) return unusableRecord('it leads to another name.');
    requireUnderstood(record, 'The record of this Human Bitcoin Address');
    return record;
  } catch (error) {
    if (isApiError(error, 'notFound', 'serviceFailed')) return error;
    throw error;
  }
}

function unusableRecord(why: string, cause?: unknown): ApiError {
  return serviceFailed(
    'unusable_answer',
    `The record of this Human Bitcoin Address cannot be used: ${why}`,
    cause,
  );
}

function joinRecord(given: PaymentString, record: PaymentString | ApiError | null): FoundMethods {
  const obstacles = given.unreadable.map((why) => refused(why));
  const { amountMsat, description } = given;
  const own = distinct(given.methods.map((method) => ({ method, viaName: null })));
  if (record === null) return { methods: own, obstacles, amountMsat, description };
  if (isApiError(record)) {
    return { methods: own, obstacles: [...obstacles, record], amountMsat, description };
  }
  requireSameUriAmount(amountMsat, record.amountMsat);
  const viaName = given.name && `${given.name.username}@${given.name.domain}`;
  return {
    // Among methods of one kind, those of the name come first, because the name is what a person reads.
    methods: distinct([...record.methods.map((method) => ({ method, viaName })), ...own]),
    obstacles: [...obstacles, ...record.unreadable.map((why) => refused(why))],
    amountMsat: amountMsat ?? record.amountMsat,
    description: description ?? record.description,
  };
}

/** The methods without those that stand earlier in another spelling. */
function distinct(found: readonly FoundMethod[]): FoundMethod[] {
  const seen = new Set<string>();
  return found.filter(({ method }) => {
    const identity = identityOf(method);
    return !seen.has(identity) && seen.add(identity);
  });
}

/** A text that is the same for every spelling of a method, and for no other method. */
function identityOf(method: NamedMethod): string {
  switch (method.kind) {
    case 'offer':
      return method.offer.text;
    case 'invoice':
      return method.invoice.text;
    case 'onchain':
      return method.address.canonical;
    case 'lnurl':
      return method.url;
  }
}

/**
 * Throws error 106 when the amounts in one payment string contradict each other, also when the method that differs
 * cannot be paid: it is then not known which amount is meant, so nothing of the string may be paid
 * (docs/decisions.md 96). An offer's amount is the least that it accepts, so it may be lower.
 */
export function requireOneAmount(
  methods: readonly NamedMethod[],
  uriAmountMsat: bigint | null,
): void {
  const invoiced = methods.flatMap((method) =>
    method.kind === 'invoice' && method.invoice.amountMsat !== null
      ? [method.invoice.amountMsat]
      : [],
  );
  const askedMsat = uriAmountMsat ?? invoiced[0];
  if (askedMsat === undefined) return;
  const asked = `${uriAmountMsat === null ? 'an invoice' : 'the URI'} for ${formatAmountMsat(askedMsat)} sats`;
  const other = invoiced.find((amountMsat) => amountMsat !== askedMsat);
  if (other !== undefined) {
    throw contradiction(`an invoice in it asks for ${formatAmountMsat(other)} sats and ${asked}`);
  }
  for (const method of methods) {
    if (method.kind !== 'offer' || (method.offer.amountMsat ?? 0n) <= askedMsat) continue;
    const leastMsat = formatAmountMsat(method.offer.amountMsat ?? 0n);
    throw contradiction(`an offer in it asks for at least ${leastMsat} sats and ${asked}`);
  }
}

/** Throws error 106 when a URI and the record of the name in it have different amounts. */
export function requireSameUriAmount(uriMsat: bigint | null, recordMsat: bigint | null): void {
  if (uriMsat === null || recordMsat === null || uriMsat === recordMsat) return;
  throw contradiction(
    `the record of its name asks for ${formatAmountMsat(recordMsat)} sats and the URI for ${formatAmountMsat(uriMsat)} sats`,
  );
}

function contradiction(what: string) {
  return refused(`This payment string cannot be used: ${what}. Ask the receiver for another one.`);
}
