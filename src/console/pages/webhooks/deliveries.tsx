import { useState } from 'preact/hooks';
import type {
  Delivery,
  Payment,
  RedeliverWebhooksResponse,
  WebhookEndpoint,
} from '../../../client/index.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { type Act, useAct } from '../../api/use-act.ts';
import { useLive } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { usePaymentsOf } from '../../api/use-payments-of.ts';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { Money } from '../../parts/facts.tsx';
import { Field, Select, useTyped } from '../../parts/fields.tsx';
import { AskedPart, Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { nowMs } from '../../values/clock.ts';
import { givenName } from '../../values/described.ts';
import { exactMoment, momentText, secondsUntil, typedMoment } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';

const PAGE = 20;
const LOOK_MS = 2000;

/** The deliveries, newest first, with a filter. `endpoints` is empty for somebody who may not list them. */
export function Deliveries({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }) {
  const may = useMay();
  const [state, setState] = useState<Delivery['state'] | ''>('');
  const [endpoint, setEndpoint] = useState('');
  const [before, setBefore] = useState<string | undefined>(undefined);
  const filter = { state: state || undefined, endpoint: endpoint || undefined };
  const asked = useLive(
    ({ api }, signal) => api.webhookDeliveries({ limit: PAGE, before, ...filter }, { signal }),
    [state, endpoint, before],
  );
  const [looked, setLooked] = useState(0);
  const isMoving = asked.value?.deliveries.some((one) => one.state === 'pending') ?? false;
  const hasGivenUp = useEvery(LOOK_MS, isMoving, asked.again, looked);
  function fromNewest<T>(set: (chosen: T) => void): (chosen: T) => void {
    return (chosen) => {
      setBefore(undefined);
      set(chosen);
    };
  }
  const refresh = () => {
    setLooked(looked + 1);
    asked.again();
  };
  const ofPayments = asked.value?.deliveries.filter(tellsOfPayment) ?? [];
  const payments = usePaymentsOf(ofPayments.map(({ index }) => index));
  return (
    <>
      <section class="card" aria-labelledby="deliveries">
        <h2 id="deliveries">{text.webhooks.deliveries}</h2>
        <div class="columns">
          <Select
            label={text.webhooks.state}
            options={{ '': text.webhooks.anyState, ...text.webhooks.states }}
            value={state}
            onChange={fromNewest(setState)}
          />
          {endpoints.length > 0 && (
            <Select
              label={text.webhooks.endpoint}
              options={endpointOptions(endpoints)}
              value={endpoint}
              onChange={fromNewest(setEndpoint)}
            />
          )}
        </div>
        <AskedPart asked={asked}>
          {({ deliveries, next }) => (
            <>
              {deliveries.length === 0 && <p class="dim">{text.webhooks.noDeliveries}</p>}
              <ul class="rows">
                {deliveries.map((delivery) => (
                  <li key={`${delivery.id}/${delivery.endpoint}`}>
                    <DeliveryRow
                      delivery={delivery}
                      payment={payments.get(delivery.index)}
                      endpoint={endpointName(delivery.endpoint, endpoints)}
                      onAgain={asked.again}
                    />
                  </li>
                ))}
              </ul>
              <div class="actions">
                {hasGivenUp && <Button words={text.webhooks.refresh} onPress={refresh} />}
                {before !== undefined && (
                  <Button words={text.webhooks.newest} onPress={() => setBefore(undefined)} />
                )}
                {next !== null && (
                  <Button words={text.webhooks.older} onPress={() => setBefore(next)} />
                )}
              </div>
            </>
          )}
        </AskedPart>
      </section>
      {may('manage_webhooks') && <AgainSince endpoint={filter.endpoint} onAgain={asked.again} />}
    </>
  );
}

function endpointOptions(endpoints: readonly WebhookEndpoint[]): Readonly<Record<string, string>> {
  const names = endpoints.map(({ id }) => [id, endpointName(id, endpoints)]);
  return { '': text.webhooks.anyEndpoint, ...Object.fromEntries(names) };
}

/** Returns what people call an endpoint; its id where it is not among those that are known. */
export function endpointName(id: string, endpoints: readonly WebhookEndpoint[]): string {
  const known = endpoints.find((one) => one.id === id);
  return known === undefined ? id : (known.description ?? known.url);
}

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** The payment that it tells of; undefined while it is not known. */
  readonly payment: Payment | undefined;
  readonly endpoint: string;
  readonly onAgain: () => void;
}

function DeliveryRow({ delivery, payment, endpoint, onAgain }: DeliveryRowProps) {
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
        {may('get_payment_by_id') && tellsOfPayment(delivery) && (
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

function tellsOfPayment({ type }: Delivery): boolean {
  return type !== 'client.budget_low';
}

const BADGES = {
  pending: 'pending',
  delivered: 'completed',
  failed: 'failed',
  canceled: 'failed',
} as const;

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
  const times = [exactMoment(created_at)];
  if (delivered_at !== null) times.push(text.webhooks.deliveredAt(exactMoment(delivered_at)));
  if (next_attempt_at === null) return times;
  return [...times, text.webhooks.nextAttempt(secondsUntil(next_attempt_at, nowMs()))];
}

interface AgainSinceProps {
  /** The endpoint to send to; all of them unless given. */
  readonly endpoint: string | undefined;
  readonly onAgain: () => void;
}

/** Sends every delivery since a time again, for a receiver that was away for longer. */
function AgainSince({ endpoint, onAgain }: AgainSinceProps) {
  const typed = useTyped();
  const sinceMs = typedMoment(typed.value);
  const again = useAct(
    ({ api }, since: number) => api.redeliverWebhooks({ since, endpoint }),
    onAgain,
  );
  return (
    <details class="card">
      <summary>{text.webhooks.againSince}</summary>
      <Field type="datetime-local" {...text.webhooks.since} of={typed} />
      <PressTwice
        words={text.webhooks.again}
        question={text.webhooks.againQuestion(sinceMs === null ? '' : momentText(sinceMs))}
        act={{
          isBusy: again.isBusy || sinceMs === null,
          run: () => sinceMs !== null && again.run(sinceMs),
        }}
      />
      <SentAgain act={again} />
    </details>
  );
}

interface SentAgainProps {
  readonly act: Pick<Act<never, RedeliverWebhooksResponse>, 'value' | 'error'>;
  readonly isShown?: boolean;
}

function SentAgain({ act: { value, error }, isShown = true }: SentAgainProps) {
  return (
    <>
      <Problem error={error} />
      <div role="status">
        {value !== null && isShown && (
          <Notice kind="good" title={text.webhooks.sentAgain(value.redelivered)} />
        )}
      </div>
    </>
  );
}
