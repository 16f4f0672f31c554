import { useState } from 'preact/hooks';
import {
  type AddWebhookEndpointRequest,
  WalletSidecarError,
  type WebhookEndpoint,
} from '../../../client/index.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/buttons.tsx';
import { Cards } from '../../parts/facts.tsx';
import { Field, Options, useTyped } from '../../parts/fields.tsx';
import { inPlace } from '../../parts/form.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { text } from '../../texts/index.ts';
import { EndpointCard } from './endpoint.tsx';

interface EndpointsProps {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly onChanged: () => void;
}

/** The endpoints of the wallet, and adding one, whose secret is shown once. */
export function Endpoints({ endpoints, onChanged }: EndpointsProps) {
  const [isAdding, setAdding] = useState(false);
  const add = useAct(
    ({ api }, request: AddWebhookEndpointRequest) => api.addWebhookEndpoint(request),
    () => {
      setAdding(false);
      onChanged();
    },
  );
  const { isBusy, run, forget, value } = add;
  return (
    <Replaced shown={value === null ? 'list' : 'secret'}>
      {value === null ? (
        <section aria-labelledby="endpoints">
          <h2 id="endpoints">{text.webhooks.endpoints}</h2>
          <p class="dim">{text.webhooks.intro}</p>
          <AddProblem error={add.error} />
          <Replaced shown={isAdding ? 'form' : 'button'}>
            {isAdding ? (
              <NewEndpoint isBusy={isBusy} onSubmit={run} onCancel={() => setAdding(false)} />
            ) : (
              <p>
                <Button class="main" words={text.webhooks.add} onPress={() => setAdding(true)} />
              </p>
            )}
          </Replaced>
          {endpoints.length === 0 && <p class="dim">{text.webhooks.none}</p>}
          <Cards of={endpoints} keyOf={({ id }) => id}>
            {(endpoint) => (
              <EndpointCard
                endpoint={endpoint}
                another={{ isBusy, run: () => run(likeEndpoint(endpoint)) }}
                onChanged={onChanged}
              />
            )}
          </Cards>
        </section>
      ) : (
        <SecretOnce
          {...text.webhooks.added}
          secret={value.secret}
          onGone={forget}
          onDone={forget}
        />
      )}
    </Replaced>
  );
}

/** The sidecar takes no Idempotency-Key here, so a request without an answer must not be sent again unseen. */
function AddProblem({ error }: { readonly error: Error | null }) {
  const isOpen = error instanceof WalletSidecarError && error.mayHaveTakenEffect;
  return isOpen ? <Notice kind="warn" {...text.webhooks.open} /> : <Problem error={error} />;
}

function likeEndpoint({ url, events, description }: WebhookEndpoint): AddWebhookEndpointRequest {
  return { url, events, ...(description === null ? {} : { description }) };
}

type Event = WebhookEndpoint['events'][number];
const EVENTS: readonly Event[] = [
  'payment.finalized',
  'payment.held',
  'payment.approval_requested',
  'client.budget_low',
];

/** The most characters of a description. The sidecar counts bytes, and says so. */
const MOST_DESCRIPTION = 200;

interface NewEndpointProps {
  readonly isBusy: boolean;
  readonly onSubmit: (request: AddWebhookEndpointRequest) => void;
  readonly onCancel: () => void;
}

/** The form of a new endpoint. Its secret is drawn by the sidecar. */
function NewEndpoint({ isBusy, onSubmit, onCancel }: NewEndpointProps) {
  const url = useTyped();
  const description = useTyped();
  const [events, setEvents] = useState<readonly Event[]>(['payment.finalized']);
  const submit = () => {
    if (events.length === 0) return;
    const request = { url: url.value.trim(), events };
    const { given } = description;
    onSubmit(given === undefined ? request : { ...request, description: given });
  };
  return (
    <form class="card" onSubmit={inPlace(submit)}>
      <Field {...text.webhooks.url} of={url} isRequired />
      <Field {...text.webhooks.description} of={description} most={MOST_DESCRIPTION} />
      <Options
        legend={text.webhooks.eventsLegend}
        offered={EVENTS}
        wordsOf={(event) => [text.webhooks.events[event], text.webhooks.eventsHelp[event]]}
        chosen={events}
        onChange={(event, isChosen) =>
          setEvents(EVENTS.filter((one) => (one === event ? isChosen : events.includes(one))))
        }
      />
      {events.length === 0 && (
        <p role="alert" class="help wrong">
          {text.webhooks.eventsWrong}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {text.webhooks.submit}
        </button>
        <Button words={text.cancel} onPress={onCancel} />
      </div>
    </form>
  );
}
