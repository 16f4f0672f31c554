import { formatAmountMsat } from '../model/amount.ts';
import { refused, rejected } from '../model/errors.ts';
import type { Payment } from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { LnurlWithdrawRequest } from '../net/lnurl.ts';
import { isServiceNotAsked, isServiceRefusal } from '../net/service-error.ts';
import { readLnurl } from './pay/lnurl.ts';
import type { PaymentServices } from './payment-services.ts';
import { issueInvoice } from './receive.ts';
import type { Session } from './session.ts';
import { waitForFinal } from './wait.ts';

/** Seconds that a withdrawal's invoice stays payable. */
const WITHDRAWAL_EXPIRATION_SECS = 3600;

/** A request to withdraw from an LNURL-withdraw service (contract, withdraw_lnurl). */
export interface WithdrawalRequest {
  readonly lnurl: string;
  /** Null withdraws the most that the service allows. */
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  readonly personalNote: string | null;
}

/** Withdraws (LUD-03) and waits for the money. Answers the finalized inbound payment. */
export async function withdrawLnurl(
  session: Session,
  request: WithdrawalRequest,
  services: PaymentServices,
  signal: AbortSignal,
): Promise<Payment> {
  const found = await services.lnurl.discover(readLnurl(request.lnurl).url, { signal });
  if (found.tag !== 'withdrawRequest') {
    throw refused('This LNURL is for paying: use pay or pay_lnurl.');
  }
  const amountMsat = request.amountMsat ?? found.maxWithdrawableMsat;
  requireWithin(found, amountMsat);
  const { payment, invoice } = await issueInvoice(session, {
    expirationSecs: WITHDRAWAL_EXPIRATION_SECS,
    amountMsat,
    description: request.description ?? found.defaultDescription,
    descriptionHash: null,
    personalNote: request.personalNote,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
  });
  await submit(session, found, invoice, payment.index, services, signal);
  return waitForFinal(session, payment.index, signal);
}

function requireWithin(found: LnurlWithdrawRequest, amountMsat: bigint): void {
  const { minWithdrawableMsat, maxWithdrawableMsat } = found;
  if (amountMsat >= minWithdrawableMsat && amountMsat <= maxWithdrawableMsat) return;
  const [least, most] = [minWithdrawableMsat, maxWithdrawableMsat].map(formatAmountMsat);
  throw rejected('amount', `the service lets from ${least} to ${most} sats be withdrawn`);
}

/** Hands the invoice to the service. One that it refused or never saw is canceled: nobody will pay it. */
async function submit(
  session: Session,
  found: LnurlWithdrawRequest,
  invoice: string,
  index: PaymentIndex,
  services: PaymentServices,
  signal: AbortSignal,
): Promise<void> {
  try {
    await services.lnurl.submitWithdraw(found, invoice, { signal });
  } catch (error) {
    if (isServiceRefusal(error) || isServiceNotAsked(error)) {
      await session.node.cancelInvoice(index);
    }
    throw error;
  }
}
