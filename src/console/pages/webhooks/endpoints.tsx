import { useState } from 'preact/hooks';
import {
  type AddWebhookEndpointRequest,
  WalletSidecarError,
  type WebhookEndpoint,
} from '../../../client/index.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/notice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { text } from '../../texts/index.ts';
import { EndpointCard } from './endpoint.tsx';
import { NewEndpoint } from './new.tsx';

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
  return (
    <Replaced shown={add.value === null ? 'list' : 'secret'}>
      {add.value === null ? (
        <section aria-labelledby="endpoints">
          <h2 id="endpoints">{text.webhooks.endpoints}</h2>
          <p class="dim">{text.webhooks.intro}</p>
          <AddProblem error={add.error} />
          <Replaced shown={isAdding ? 'form' : 'button'}>
            {isAdding ? (
              <NewEndpoint
                isBusy={add.isBusy}
                onSubmit={add.run}
                onCancel={() => setAdding(false)}
              />
            ) : (
              <p>
                <button type="button" class="main" onClick={() => setAdding(true)}>
                  {text.webhooks.add}
                </button>
              </p>
            )}
          </Replaced>
          {endpoints.length === 0 && <p class="dim">{text.webhooks.none}</p>}
          <ul class="cards">
            {endpoints.map((endpoint) => (
              <li key={endpoint.id} class="card">
                <EndpointCard
                  endpoint={endpoint}
                  isBusy={add.isBusy}
                  onNewSecret={() => add.run(likeEndpoint(endpoint))}
                  onChanged={onChanged}
                />
              </li>
            ))}
          </ul>
        </section>
      ) : (
        <SecretOnce
          title={text.webhooks.secretTitle}
          label={text.webhooks.secret}
          secret={add.value.secret}
          words={text.webhooks.secretWords}
          done={text.webhooks.stored}
          onGone={add.forget}
          onDone={add.forget}
        />
      )}
    </Replaced>
  );
}

/** The sidecar takes no Idempotency-Key here, so a request without an answer must not be sent again unseen. */
function AddProblem({ error }: { readonly error: Error | null }) {
  if (!(error instanceof WalletSidecarError && error.mayHaveTakenEffect)) {
    return <Problem error={error} />;
  }
  return (
    <Notice kind="warn" title={text.webhooks.openTitle}>
      {text.webhooks.openWords}
    </Notice>
  );
}

function likeEndpoint({ url, events, description }: WebhookEndpoint): AddWebhookEndpointRequest {
  return { url, events, ...(description === null ? {} : { description }) };
}
