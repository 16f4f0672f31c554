import type { Payment } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { momentText } from '../values/moment.ts';
import { linkTo } from '../values/place.ts';
import { Money } from './money.tsx';

/** Payments as a list of links to their details, in the order given. */
export function PaymentList({ payments }: { readonly payments: readonly Payment[] }) {
  return (
    <ul class="payments">
      {payments.map((payment) => (
        <li key={payment.index}>
          <a href={linkTo('payments', payment.index)}>
            <span class={`arrow ${payment.direction}`} aria-hidden="true">
              {ARROWS[payment.direction]}
            </span>
            <span class="what">
              <span class="name">{nameOf(payment)}</span>
              <span class="dim">{momentText(payment.created_at)}</span>
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

/** How a payment stands. The word of the sidecar is shown where it says more. */
export function StatusBadge({ payment }: { readonly payment: Payment }) {
  const { status, status_msg } = payment;
  const says =
    status === 'completed' ? text.status.completed : `${text.status[status]}: ${status_msg}`;
  return <span class={`badge ${status}`}>{says}</span>;
}

/** Returns what people call a payment: its note, its message, or how it moved. */
export function nameOf(payment: Payment): string {
  const named = payment.personal_note ?? payment.message ?? payment.payer_name;
  return named ?? `${text.direction[payment.direction]}: ${text.rail[payment.rail]}`;
}

const ARROWS = { inbound: '↓', outbound: '↑', info: '·' } as const;

function signOf({ direction, amount }: Payment): '+' | '−' | '' {
  if (amount === null || direction === 'info') return '';
  return direction === 'inbound' ? '+' : '−';
}
