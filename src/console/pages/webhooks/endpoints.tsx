import { useState } from 'preact/hooks';
import {
  type AddWebhookEndpointRequest,
  WalletSidecarError,
  type WebhookEndpoint,
} from '../../../client/index.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { Cards } from '../../parts/items.tsx';
import { Notice, Problem } from '../../parts/notice.tsx';
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
