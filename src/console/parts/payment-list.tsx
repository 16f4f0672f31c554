import { type Payment, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { isAwaiting } from '../values/approval.ts';
import { nowMs } from '../values/clock.ts';
import { besideName, givenName } from '../values/described.ts';
import { shortMoment } from '../values/moment.ts';
import { linkTo } from '../values/place.ts';
import { satsOf } from '../values/sats.ts';
import { Money } from './facts.tsx';

/** Payments as a list of links to their details, in the order given. */
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
                {text.railShort[payment.rail]} · {shortMoment(payment.created_at, nowMs())}
                {hasFee(payment) && ` · ${text.withFee(satsOf(payment.fees))}`}
              </span>
              {besideName(payment).map((words) => (
                <span key={words} class="dim name">
                  {words}
                </span>
              ))}
            </span>
            <span class="sum">
              <Money of={payment.amount} sign={signOf(payment)} />
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
