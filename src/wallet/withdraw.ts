import { formatAmountMsat } from '../model/amount.ts';
import { internalUnlessApi, refused, rejected } from '../model/errors.ts';
import { isFinal, type Payment } from '../model/payment.ts';
import type { LnurlWithdrawRequest } from '../net/lnurl.ts';
import { isServiceNotAsked, isServiceRefusal } from '../net/service-error.ts';
import type { EffectNames } from './effect-names.ts';
import { readLnurl } from './pay/lnurl.ts';
import type { PaymentServices } from './payment-services.ts';
import { issueInvoice } from './receive.ts';
import type { Session } from './session.ts';
import { waitForFinal } from './wait.ts';

/** How long a withdrawal's invoice can be paid, in seconds. */
const WITHDRAWAL_EXPIRATION_SECS = 3600;

/** A request to withdraw from an LNURL-withdraw service (LUD-03). */
export interface WithdrawalRequest {
  readonly lnurl: string;
  /** The amount in millisatoshis; null is the most that the service allows. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  readonly personalNote: string | null;
}

/**
 * Withdraws and waits for the money. Returns the finalized inbound payment. The service's terms and the invoice are
 * stored in the key's row before the invoice is handed over, so that a repeat hands over the same invoice
 * (docs/decisions.md 54). When it is not known whether the service will pay, the error carries `data.sent: "unknown"`.
 */
export async function withdrawLnurl(
  session: Session,
  request: WithdrawalRequest,
  services: PaymentServices,
  { names, signal }: { readonly names: EffectNames; readonly signal: AbortSignal },
): Promise<Payment> {
  const terms = JSON.parse(
    await names.kept('withdrawal', async () =>
      JSON.stringify(await termsOf(request, services, signal)),
    ),
  ) as WithdrawalTerms;
  const amountMsat = BigInt(terms.amountMsat);
  const { payment, invoice } = await issueInvoice(
    session,
    {
      expirationSecs: WITHDRAWAL_EXPIRATION_SECS,
      amountMsat,
      description: terms.description,
      descriptionHash: null,
      personalNote: request.personalNote,
      partnerPk: null,
      partnerPropFeePpm: null,
      partnerBaseFeeMsat: null,
    },
    names,
  );
  const known = await session.history.payment(payment.index);
  if (known && isFinal(known)) return known;
  const handedOverBefore = names.earlier('handed over') !== null;
  await names.kept('handed over', () => 'yes', payment.index);
  try {
    await services.lnurl.submitWithdraw(terms, invoice, { signal });
  } catch (error) {
    // Only an ERROR to the first request, or a request that never left, proves that the service will not pay.
    const isOver = isServiceRefusal(error) || isServiceNotAsked(error);
    if (isOver && !handedOverBefore) {
      await session.node.cancelInvoice(payment.index);
      await names.forget();
      throw error;
    }
    throw internalUnlessApi(error).with({ sent: 'unknown', index: payment.index });
  }
  return waitForFinal(session, payment.index, signal);
}

/** The service's terms as they are stored, in JSON. */
interface WithdrawalTerms {
  readonly callback: string;
  readonly k1: string;
  readonly amountMsat: string;
  readonly description: string | null;
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
  requireWithin(found, amountMsat);
  return {
    callback: found.callback,
    k1: found.k1,
    amountMsat: amountMsat.toString(),
    description: request.description ?? found.defaultDescription,
  };
}

function requireWithin(found: LnurlWithdrawRequest, amountMsat: bigint): void {
  const { minWithdrawableMsat, maxWithdrawableMsat } = found;
  if (amountMsat >= minWithdrawableMsat && amountMsat <= maxWithdrawableMsat) return;
  const [least, most] = [minWithdrawableMsat, maxWithdrawableMsat].map(formatAmountMsat);
  throw rejected('amount', `must be from ${least} to ${most} sats, the limits of the service`);
}
