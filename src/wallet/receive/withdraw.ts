import { internalUnlessApi, refused } from '../../model/errors.ts';
import { isFinal, type OwnWords, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { isServiceNotAsked, isServiceRefusal } from '../../net/service-error.ts';
import { requireWithin } from '../pay/agreed-amount.ts';
import { readLnurl } from '../pay/lnurl.ts';
import { waitForFinal } from '../read/wait.ts';
import { type EffectNames, sentBefore } from '../session/effect-names.ts';
import type { ServedWallet, Waiter } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';
import type { PaymentServices } from '../strings/payment-services.ts';
import { issueInvoice, NO_PARTNER } from './receive.ts';

/** How long a withdrawal's invoice can be paid, in seconds. */
const WITHDRAWAL_EXPIRATION_SECS = 3600;

interface WithdrawalRequest extends OwnWords {
  readonly lnurl: string;
  /** The amount in millisatoshis; null is the most that the service allows. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
}

/**
 * Withdraws and waits for the money. Returns the finalized inbound payment. The service's terms and the invoice are
 * stored in the key's row before the invoice is handed over, so that a repeat hands over the same invoice
 * (docs/decisions.md 54). Errors carry `data.sent`, which is `"unknown"` when the service may still pay.
 */
export function withdrawLnurl(
  session: ServedWallet & Waiter,
  request: WithdrawalRequest,
  services: PaymentServices,
  effects: WithdrawalEffects,
): Promise<Payment> {
  const before = sentBefore(effects.names, 'handed over');
  return tellingSent(before, async () => {
    const terms = await keptTerms(request, services, effects);
    const { payment, invoice } = await issueInvoice(
      session,
      {
        expirationSecs: WITHDRAWAL_EXPIRATION_SECS,
        amountMsat: BigInt(terms.amountMsat),
        description: terms.description,
        descriptionHash: null,
        personalNote: request.personalNote,
        externalId: request.externalId,
        ...NO_PARTNER,
      },
      effects.names,
    );
    const known = await session.history.payment(payment.index);
    if (known && isFinal(known)) return known;
    await effects.names.kept('handed over', async () => 'yes', payment.index);
    const handOver = () => services.lnurl.submitWithdraw(terms, invoice, effects);
    return received(session, payment.index, handOver, { ...effects, before });
  });
}

interface WithdrawalEffects {
  readonly names: EffectNames;
  readonly signal: AbortSignal;
}

/** Hands the invoice over, and waits until it is paid. */
async function received(
  session: ServedWallet & Waiter,
  index: PaymentIndex,
  handOver: () => Promise<void>,
  { names, signal, before }: WithdrawalEffects & { readonly before: 'no' | 'unknown' },
): Promise<Payment> {
  try {
    await handOver();
    return await waitForFinal(session, index, signal);
  } catch (error) {
    // Only an ERROR to the first request, or a request that never left, proves that the service will not pay.
    const isOver = isServiceRefusal(error) || isServiceNotAsked(error);
    if (!isOver || before === 'unknown') {
      throw internalUnlessApi(error).with({ sent: 'unknown', index });
    }
    await session.node.cancelInvoice(index);
    await names.forget();
    throw error;
  }
}

interface WithdrawalTerms {
  readonly callback: string;
  readonly k1: string;
  readonly amountMsat: string;
  readonly description: string | null;
}

/** The service's terms, as an earlier run of the request stored them or as the service tells them now. */
async function keptTerms(
  request: WithdrawalRequest,
  services: PaymentServices,
  { names, signal }: WithdrawalEffects,
): Promise<WithdrawalTerms> {
  const asked = async () => JSON.stringify(await termsOf(request, services, signal));
  return JSON.parse(await names.kept('withdrawal', asked));
}

async function termsOf(
  request: WithdrawalRequest,
  services: PaymentServices,
  signal: AbortSignal,
): Promise<WithdrawalTerms> {
  const wanted = 'an LNURL for withdrawing (lnurl1... or lnurlw://...)';
  const found = await services.lnurl.discover(readLnurl(request.lnurl, wanted).url, { signal });
  if (found.tag !== 'withdrawRequest') {
    throw refused('This LNURL is for paying: use pay or pay_lnurl.');
  }
  const amountMsat = request.amountMsat ?? found.maxWithdrawableMsat;
  requireWithin(
    amountMsat,
    [found.minWithdrawableMsat, found.maxWithdrawableMsat],
    'service',
    'amount',
  );
  return {
    callback: found.callback,
    k1: found.k1,
    amountMsat: amountMsat.toString(),
    description: request.description ?? found.defaultDescription,
  };
}
