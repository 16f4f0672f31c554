import { type Payment, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { isAwaiting } from '../values/approval.ts';
import { nowMs } from '../values/clock.ts';
import { besideName, givenName } from '../values/described.ts';
import { clockText, longDay } from '../values/moment.ts';
import { paymentDays } from '../values/money-flow.ts';
import { linkTo } from '../values/place.ts';
import { priceText } from '../values/price.ts';
import { satsOf } from '../values/sats.ts';
import { Money } from './facts.tsx';

/** Payments by the day on which they were made, newest first. With `isMore` there are earlier ones. */
export function PaymentDays(props: {
  readonly payments: readonly Payment[];
  readonly isMore: boolean;
}) {
  return paymentDays(props.payments, props.isMore).map(({ startMs, payments, flow }) => (
    <section key={startMs}>
      <h2 class="day">
        <span>{longDay(startMs, nowMs())}</span>
        {flow !== null && flow.inMsat > 0n && <Money of={flow.inMsat} sign="+" />}
        {flow !== null && flow.outMsat > 0n && <Money of={flow.outMsat} sign="−" />}
      </h2>
      <PaymentList payments={payments} />
    </section>
  ));
}

/** Payments as a list of links to their details, in the order given, with the time of the day. */
export function PaymentList({ payments }: { readonly payments: readonly Payment[] }) {
  return (
    <ul class="payments">
      {payments.map((payment) => (
        <li key={payment.index}>
          <a href={linkTo('payments', payment.index)} class={payment.status}>
            <span class={`arrow ${payment.direction}`} aria-hidden="true">
              {ARROWS[payment.direction]}
            </span>
            <span class="what">
              <span class="name">{nameOf(payment)}</span>
              <span class="dim">
                {text.railShort[payment.rail]} · {clockText(payment.created_at)}
                {hasFee(payment) && ` · ${text.withFee(satsOf(payment.fees))}`}
                {payment.refund_of !== null && ` · ${text.isRefund}`}
                {payment.refunded !== null && ` · ${text.hasRefunds(satsOf(payment.refunded))}`}
              </span>
              {besideName(payment).map((words) => (
                <span key={words} class="dim name">
                  {words}
                </span>
              ))}
            </span>
            <span class="sum">
              <Money of={payment.amount} sign={signOf(payment)} />
              {payment.price && <span class="cost">{priceText(payment.price)}</span>}
              <StatusBadge payment={payment} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** How a payment stands, in words for people where the sidecar's own are known. */
export function StatusBadge({ payment }: { readonly payment: Payment }) {
  const { status, status_msg } = payment;
  const words: Readonly<Record<string, string>> = text.statusWords;
  return (
    <span class={`badge ${status}`}>
      {words[status_msg] ??
        [text.status[status], ...(status_msg === status ? [] : [status_msg])].join(': ')}
    </span>
  );
}

const INFO_NAMES: Readonly<Partial<Record<Payment['kind'], string>>> = {
  waived_channel_fee: text.feeWaived,
  onchain: text.feeOfMiners,
};

/** Returns what a payment is called: as people named it, or by which way it went. */
export function nameOf(payment: Payment): string {
  const { direction, status, kind } = payment;
  const named = givenName(payment);
  if (named !== null) return named;
  if (direction === 'info') return INFO_NAMES[kind] ?? text.info;
  return isAwaiting(payment) ? text.toBeSent : text.directionWords[direction][status];
}

/** Whether a payment has cost a fee, which its amount does not hold. */
function hasFee({ direction, status, fees }: Payment): boolean {
  return direction !== 'inbound' && status === 'completed' && toMsat(fees) > 0n;
}

const ARROWS = { inbound: '↓', outbound: '↑', info: '·' } as const;

function signOf({ direction, amount, status }: Payment): '+' | '−' | '' {
  if (amount === null || direction === 'info' || status === 'failed') return '';
  if (direction === 'outbound') return '−';
  return status === 'completed' ? '+' : '';
}
