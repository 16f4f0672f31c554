import type { Delivery, Payment } from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { Money } from '../../parts/money.tsx';
import { text } from '../../texts/index.ts';
import { nowMs } from '../../values/clock.ts';
import { givenName } from '../../values/described.ts';
import { exactMoment, secondsUntil } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { SentAgain } from './again.tsx';

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** The payment that it tells of; undefined while it is not known. */
  readonly payment: Payment | undefined;
  /** What people call its endpoint. */
  readonly endpoint: string;
  readonly onAgain: () => void;
}

/** One delivery: which payment it tells of, where it goes, how it stands, and sending it again. */
export function DeliveryRow({ delivery, payment, endpoint, onAgain }: DeliveryRowProps) {
  const { about } = useSignedIn();
  const may = useMay();
  const { id, type, state, last_error, index } = delivery;
  const again = useAct(
    ({ api }) => api.redeliverWebhooks({ id, endpoint: delivery.endpoint }),
    onAgain,
  );
  const isOver = state === 'failed' || state === 'delivered';
  return (
    <>
      <p class="head">
        <span>
          {payment === undefined ? text.webhooks.events[type] : <PaymentWords of={payment} />}
        </span>
        <span class={`badge ${BADGES[state]}`}>{stateWords(delivery)}</span>
      </p>
      <p class="dim">
        {payment !== undefined && `${text.webhooks.events[type]} · `}
        {[endpoint, ...timesOf(delivery)].join(' · ')}
      </p>
      {last_error !== null && state !== 'delivered' && <p>{text.webhooks.problem(last_error)}</p>}
      <div class="actions">
        {about.owner && <a href={linkTo('webhooks', id)}>{text.webhooks.attempts}</a>}
        {may('get_payment_by_id') && (
          <a href={linkTo('payments', index)}>{text.webhooks.payment}</a>
        )}
        {may('manage_webhooks') && isOver && (
          <Button words={text.webhooks.again} isBusy={again.isBusy} onPress={again.run} />
        )}
      </div>
      <SentAgain act={again} isShown={state !== 'delivered'} />
    </>
  );
}

const BADGES = {
  pending: 'pending',
  delivered: 'completed',
  failed: 'failed',
  canceled: 'failed',
} as const;

/** Names a payment in one line: which way it went, how much, and what people called it. */
function PaymentWords({ of: payment }: { readonly of: Payment }) {
  const { direction, status, amount, index } = payment;
  return (
    <>
      {direction === 'info' ? text.info : text.directionWords[direction][status]}{' '}
      <Money of={amount} /> · {givenName(payment) ?? text.webhooks.shortIndex(index)}
    </>
  );
}

function stateWords({ state, attempts }: Delivery): string {
  if (state === 'pending' && attempts > 0) return text.webhooks.retried;
  return text.webhooks.states[state];
}

function timesOf({ created_at, delivered_at, next_attempt_at }: Delivery): readonly string[] {
  return [
    exactMoment(created_at),
    ...(delivered_at === null ? [] : [text.webhooks.deliveredAt(exactMoment(delivered_at))]),
    ...(next_attempt_at === null
      ? []
      : [text.webhooks.nextAttempt(secondsUntil(next_attempt_at, nowMs()))]),
  ];
}
