import { useState } from 'preact/hooks';
import type { Delivery, WebhookEndpoint } from '../../client/index.ts';
import { useMay, useSignedIn } from '../api/signed-in.tsx';
import { useAct } from '../api/use-act.ts';
import { useAsked } from '../api/use-asked.ts';
import { useEvery } from '../api/use-every.ts';
import { AskedPart } from '../parts/asked-part.tsx';
import { Notice } from '../parts/notice.tsx';
import { Problem } from '../parts/problem.tsx';
import { Select } from '../parts/select.tsx';
import { text } from '../texts/index.ts';
import { momentText } from '../values/moment.ts';
import { linkTo } from '../values/place.ts';
import { AgainSince } from './webhooks-again.tsx';

const PAGE = 20;
/** How often to look at deliveries that are being sent, in milliseconds. */
const LOOK_MS = 2000;

/** The deliveries, newest first, with a filter. `endpoints` is empty for somebody who may not list them. */
export function Deliveries({ endpoints }: { readonly endpoints: readonly WebhookEndpoint[] }) {
  const [state, setState] = useState<Delivery['state'] | ''>('');
  const [endpoint, setEndpoint] = useState('');
  const [before, setBefore] = useState<string | undefined>(undefined);
  const asked = useAsked(
    ({ api }, signal) =>
      api.webhookDeliveries(
        {
          limit: PAGE,
          before,
          state: state === '' ? undefined : state,
          endpoint: endpoint === '' ? undefined : endpoint,
        },
        { signal },
      ),
    [state, endpoint, before],
    { live: true },
  );
  const isMoving = asked.value?.deliveries.some((one) => one.state === 'pending') ?? false;
  useEvery(LOOK_MS, isMoving, asked.again);
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{text.webhooks.deliveries}</h2>
      <div class="columns">
        <Select
          label={text.webhooks.state}
          options={{ '': text.webhooks.anyState, ...text.webhooks.states }}
          value={state}
          onChange={(chosen) => {
            setBefore(undefined);
            setState(chosen);
          }}
        />
        {endpoints.length > 0 && (
          <Select
            label={text.webhooks.endpoint}
            options={endpointOptions(endpoints)}
            value={endpoint}
            onChange={(chosen) => {
              setBefore(undefined);
              setEndpoint(chosen);
            }}
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
                    endpoint={endpointName(delivery.endpoint, endpoints)}
                    onAgain={asked.again}
                  />
                </li>
              ))}
            </ul>
            <div class="actions">
              <button type="button" onClick={asked.again}>
                {text.webhooks.refresh}
              </button>
              {before !== undefined && (
                <button type="button" onClick={() => setBefore(undefined)}>
                  {text.webhooks.newest}
                </button>
              )}
              {next !== null && (
                <button type="button" onClick={() => setBefore(next)}>
                  {text.webhooks.older}
                </button>
              )}
            </div>
          </>
        )}
      </AskedPart>
      <AgainSince endpoint={endpoint === '' ? undefined : endpoint} onAgain={asked.again} />
    </section>
  );
}

interface DeliveryRowProps {
  readonly delivery: Delivery;
  /** What people call its endpoint. */
  readonly endpoint: string;
  readonly onAgain: () => void;
}

function DeliveryRow({ delivery, endpoint, onAgain }: DeliveryRowProps) {
  const { about } = useSignedIn();
  const may = useMay();
  const { id, state, last_error, index } = delivery;
  const again = useAct(
    ({ api }, _: null) => api.redeliverWebhooks({ id, endpoint: delivery.endpoint }),
    onAgain,
  );
  return (
    <>
      <p class="head">
        <span>{text.webhooks.events[delivery.type]}</span>
        <span class={`badge ${BADGES[state]}`}>{text.webhooks.states[state]}</span>
      </p>
      <p class="dim">{[endpoint, momentText(delivery.created_at), howFar(delivery)].join(' · ')}</p>
      {last_error !== null && state !== 'delivered' && <p>{last_error}</p>}
      <div class="actions">
        {about.owner && <a href={linkTo('webhooks', id)}>{text.webhooks.attempts}</a>}
        {may('get_payment_by_id') && (
          <a href={linkTo('payments', index)}>{text.webhooks.payment}</a>
        )}
        {(state === 'failed' || state === 'delivered') && (
          <button
            type="button"
            class="quiet"
            disabled={again.isBusy}
            onClick={() => again.run(null)}
          >
            {text.webhooks.again}
          </button>
        )}
      </div>
      <Problem error={again.error} />
      <div role="status">
        {again.value !== null && (
          <Notice kind="good" title={text.webhooks.sentAgain(again.value.redelivered)} />
        )}
      </div>
    </>
  );
}

const BADGES = {
  pending: 'pending',
  delivered: 'completed',
  failed: 'failed',
  canceled: 'failed',
} as const;

function howFar({ attempts, next_attempt_at }: Delivery): string {
  const count = text.webhooks.attemptCount(attempts);
  if (next_attempt_at === null) return count;
  return `${count}, ${text.webhooks.nextAttempt(momentText(next_attempt_at))}`;
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
