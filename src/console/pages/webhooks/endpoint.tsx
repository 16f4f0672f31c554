import type { TestWebhookEndpointResponse, WebhookEndpoint } from '../../../client/index.ts';
import { useAct } from '../../api/use-act.ts';
import { Notice } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';
import { Exchange } from './exchange.tsx';

/** The id of the endpoint that the sidecar's own configuration names. */
const CONFIGURED = 'configured';
/** The longest lease of an endpoint, in seconds. */
const DAY_SECS = 86_400;

interface EndpointCardProps {
  readonly endpoint: WebhookEndpoint;
  readonly isBusy: boolean;
  readonly onNewSecret: () => void;
  /** Called when it was removed, or its lease was renewed. */
  readonly onChanged: () => void;
}

/** One endpoint, with what can be done with it. */
export function EndpointCard({ endpoint, isBusy, onNewSecret, onChanged }: EndpointCardProps) {
  const { id, url, description, events, signed } = endpoint;
  const remove = useAct(({ api }, _: null) => api.deleteWebhookEndpoint({ id }), onChanged);
  const renew = useAct(
    ({ api }, _: null) => api.renewWebhookEndpoint({ id, lease_secs: DAY_SECS }),
    onChanged,
  );
  const test = useAct(({ api }, _: null) => api.testWebhookEndpoint({ id }));
  const isConfigured = id === CONFIGURED;
  return (
    <>
      <h3 class="head">{description ?? url}</h3>
      {description !== null && <p class="mono">{url}</p>}
      <ul class="chips">
        {events.map((event) => (
          <li key={event}>{text.webhooks.events[event]}</li>
        ))}
        {!signed && <li class="warn-text">{text.webhooks.unsigned}</li>}
      </ul>
      <p class="dim">{isConfigured ? text.webhooks.configured : datesOf(endpoint)}</p>
      <div class="actions">
        <button type="button" disabled={test.isBusy} onClick={() => test.run(null)}>
          {text.webhooks.test}
        </button>
        {endpoint.expires_at !== null && (
          <button type="button" disabled={renew.isBusy} onClick={() => renew.run(null)}>
            {text.webhooks.keep}
          </button>
        )}
        {!isConfigured && (
          <>
            <PressTwice
              words={text.webhooks.newSecret}
              question={text.webhooks.newSecretQuestion}
              confirm={text.webhooks.newSecretConfirm}
              isBusy={isBusy}
              onConfirmed={onNewSecret}
            />
            <PressTwice
              words={text.webhooks.remove}
              question={text.webhooks.removeQuestion(url)}
              confirm={text.webhooks.removeConfirm}
              isBusy={remove.isBusy}
              onConfirmed={() => remove.run(null)}
            />
          </>
        )}
      </div>
      <Problem error={renew.error} />
      <Problem error={remove.error} />
      <Problem error={test.error} />
      <div role="status">{test.value !== null && <Tested tested={test.value} />}</div>
    </>
  );
}

function Tested({ tested }: { readonly tested: TestWebhookEndpointResponse }) {
  return (
    <>
      {tested.delivered ? (
        <Notice kind="good" title={text.webhooks.taken(tested.duration_ms)} />
      ) : (
        <Notice kind="warn" title={text.webhooks.notTaken}>
          {tested.error !== null && text.webhooks.problem(tested.error)}
        </Notice>
      )}
      <Exchange of={tested} />
    </>
  );
}

function datesOf({ created_at, expires_at }: WebhookEndpoint): string {
  return [
    ...(created_at === null ? [] : [text.webhooks.created(momentText(created_at))]),
    ...(expires_at === null ? [] : [text.webhooks.expires(momentText(expires_at))]),
  ].join(' · ');
}
