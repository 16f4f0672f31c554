import { formatAmountMsat } from '../../model/amount.ts';
import { type ApiError, isApiError, refused } from '../../model/errors.ts';
import type { WalletNode } from '../../nodes/node.ts';
import type { OnNode } from '../session/session.ts';
import { type PricedMethod, withFeeEstimates } from './fee-estimate.ts';
import {
  addressTerms,
  type ClaimMethod,
  invoiceTerms,
  lnurlPayTerms,
  offerTerms,
  type PayMethod,
  type UriTerms,
  withdrawTerms,
} from './method-terms.ts';
import { type FoundMethod, findMethods } from './named-methods.ts';
import { addressObstacle, invoiceObstacle, offerObstacle, requireNone } from './obstacles.ts';
import { offerPrice } from './offer-price.ts';
import type { PaymentServices } from './payment-services.ts';
import type { NamedMethod } from './payment-string.ts';

/** The methods of a payment string that this wallet can use, the most recommended first. */
export interface Analysis {
  readonly payables: readonly PricedMethod[];
  readonly claimables: readonly ClaimMethod[];
}

/** Who asks. The signal is read only where a service outside is asked, since it takes time to make. */
interface Caller {
  readonly signal: AbortSignal;
}

/** What an {@link Analysis} is made from. */
export interface Examination {
  readonly payables: readonly PayMethod[];
  readonly claimables: readonly ClaimMethod[];
  /** Every method that could be read, also those that cannot be paid. */
  readonly methods: readonly NamedMethod[];
  /** The terms that the URI sets for all its methods. */
  readonly uri: UriTerms;
  /** The reasons why methods were left out. */
  readonly obstacles: readonly ApiError[];
}

/** The order of recommendation, the best first (docs/decisions.md 95). */
const RECOMMENDATION = ['offer', 'invoice', 'lnurl-pay', 'onchain'] as const;

/** The largest number of reasons in one error message. */
const MAX_REASONS = 5;

/**
 * Explains a payment string (docs/api.md, Payable and claimable). Throws error 7 for `path` when the text is not a
 * payment string, and error 106 when none of its methods may or can be used. Where only services outside failed, it
 * throws the first one's error.
 */
export async function analyze(
  text: string,
  path: string,
  session: OnNode,
  services: PaymentServices,
  caller?: Caller,
): Promise<Analysis> {
  const { payables, claimables, obstacles } = await examine(text, path, session, services, {
    caller,
  });
  if (payables.length + claimables.length === 0) throw nothingLeft(obstacles);
  return { payables: await withFeeEstimates(payables, session.node), claimables };
}

/**
 * {@link analyze} that also returns when no method is left. With `forPayment`, services outside are asked only when no
 * method that is recommended more can be paid: one that does not answer must not hold that payment up.
 */
export async function examine(
  text: string,
  path: string,
  { node }: OnNode,
  services: PaymentServices,
  { caller, forPayment = false }: { caller?: Caller | undefined; forPayment?: boolean } = {},
): Promise<Examination> {
  const found = await findMethods(text, path, services);
  const judge = (one: FoundMethod) =>
    look(one, found, node, services, caller).catch((error: unknown): Judgement => {
      const isGone = one.method.kind === 'lnurl' && caller?.signal.aborted;
      if (isGone || !isApiError(error, 'refused', 'serviceFailed')) throw error;
      return { obstacle: error };
    });
  const isOutside = ({ method }: FoundMethod) => method.kind === 'lnurl';
  const here = await Promise.all(found.methods.filter((one) => !isOutside(one)).map(judge));
  const isSettled = here.some(
    ({ payable }) => payable && rank(payable) < rank({ kind: 'lnurl-pay' }),
  );
  const asked = forPayment && isSettled ? [] : found.methods.filter(isOutside);
  const outside = await Promise.all(asked.map(judge));
  const judged = [...here, ...outside];
  const payables = judged.flatMap(({ payable }) => payable ?? []);
  return {
    payables: payables.toSorted((a, b) => rank(a) - rank(b)),
    claimables: judged.flatMap(({ claimable }) => claimable ?? []),
    methods: found.methods.map(({ method }) => method),
    uri: found,
    obstacles: [...found.obstacles, ...judged.flatMap(({ obstacle }) => obstacle ?? [])],
  };
}

/** Returns the place of a method in the order of recommendation; 0 is the best. */
export function rank({ kind }: Pick<PayMethod, 'kind'>): number {
  return RECOMMENDATION.indexOf(kind);
}

/** Returns the error for a payment string without a usable method. */
export function nothingLeft(obstacles: readonly ApiError[]): ApiError {
  const [first] = obstacles;
  if (!first) {
    return refused(
      'The payment string names no way to pay that this wallet knows: ask the receiver for an invoice, offer or address.',
    );
  }
  if (obstacles.every(({ kind }) => kind !== 'refused')) return first;
  // What a service says stands in its error as it is, often without a full stop.
  const reasons = new Set(obstacles.map(({ message }) => message.replace(/[^.!?…]$/u, '$&.')));
  return refused([...reasons].slice(0, MAX_REASONS).join(' '));
}

/** The terms of a method, or the error that says why it cannot be used. */
interface Judgement {
  readonly payable?: PayMethod;
  readonly claimable?: ClaimMethod;
  readonly obstacle?: ApiError;
}

async function look(
  { method, viaName }: FoundMethod,
  uri: UriTerms,
  node: WalletNode,
  { lnurl, rates }: PaymentServices,
  caller: Caller | undefined,
): Promise<Judgement> {
  switch (method.kind) {
    case 'offer': {
      const { offer } = method;
      requireNone(offerObstacle(offer, node));
      return { payable: offerTerms(offer, viaName, uri, await offerPrice(offer, rates)) };
    }
    case 'invoice':
      requireNone(invoiceObstacle(method.invoice, node));
      return { payable: invoiceTerms(method.invoice, uri) };
    case 'onchain':
      requireNone(addressObstacle(method.address, node));
      return { payable: addressTerms(method.address, uri) };
    case 'lnurl': {
      const request = await lnurl.discover(method.url, { signal: caller?.signal });
      if (request.tag === 'withdrawRequest') {
        const { minWithdrawableMsat, maxWithdrawableMsat } = request;
        requireNone(limitObstacle(uri, 'gives', minWithdrawableMsat, maxWithdrawableMsat));
        return { claimable: withdrawTerms(method.text, request, uri) };
      }
      requireNone(limitObstacle(uri, 'takes', request.minSendableMsat, request.maxSendableMsat));
      return { payable: lnurlPayTerms(method.text, request, uri) };
    }
  }
}

function limitObstacle(
  { amountMsat }: UriTerms,
  does: 'takes' | 'gives',
  leastMsat: bigint,
  mostMsat: bigint,
): string | null {
  if (amountMsat === null || (amountMsat >= leastMsat && amountMsat <= mostMsat)) return null;
  const [least, most, asked] = [leastMsat, mostMsat, amountMsat].map(formatAmountMsat);
  return `The LNURL service ${does} from ${least} to ${most} sats and the URI asks for ${asked}.`;
}
