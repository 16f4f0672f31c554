import { useState } from 'preact/hooks';
import type { Delivery, WebhookEndpoint } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useLive } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { usePaymentsOf } from '../../api/use-payments-of.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/fields.tsx';
import { text } from '../../texts/index.ts';
import { AgainSince } from './again.tsx';
import { DeliveryRow } from './delivery-row.tsx';

const PAGE = 20;
/** How often to look at deliveries that are being sent, in milliseconds. */
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
  const refresh = () => {
    setLooked(looked + 1);
    asked.again();
  };
  const payments = usePaymentsOf(asked.value?.deliveries.map(({ index }) => index) ?? []);
  return (
    <>
      <section class="card" aria-labelledby="deliveries">
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
