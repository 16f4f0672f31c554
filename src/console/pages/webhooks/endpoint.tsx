import type { TestWebhookEndpointResponse, WebhookEndpoint } from '../../../client/index.ts';
import { type Act, useAct } from '../../api/use-act.ts';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { momentText } from '../../values/moment.ts';
import { Exchange } from './delivery.tsx';

/** The id of the endpoint that the sidecar's own configuration names. */
const CONFIGURED = 'configured';
const DAY_SECS = 86_400;

interface EndpointCardProps {
  readonly endpoint: WebhookEndpoint;
  /** Adds another one with the same URL and a new secret. */
  readonly another: Pick<Act<void, unknown>, 'isBusy' | 'run'>;
  readonly onChanged: () => void;
}

/** One endpoint, with what can be done with it. */
export function EndpointCard({ endpoint, another, onChanged }: EndpointCardProps) {
  const { id, url, description, events, signed, expires_at } = endpoint;
  const remove = useAct(({ api }) => api.deleteWebhookEndpoint({ id }), onChanged);
  const renew = useAct(
    ({ api }) => api.renewWebhookEndpoint({ id, lease_secs: DAY_SECS }),
    onChanged,
  );
  const test = useAct(({ api }) => api.testWebhookEndpoint({ id }));
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
        <Button words={text.webhooks.test} isBusy={test.isBusy} onPress={test.run} />
        {expires_at !== null && (
          <Button words={text.webhooks.keep} isBusy={renew.isBusy} onPress={renew.run} />
        )}
        {!isConfigured && (
          <>
            <PressTwice {...text.webhooks.newSecret} act={another} />
            <PressTwice isGrave {...text.webhooks.remove(url)} act={remove} />
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
  const { delivered, duration_ms, error } = tested;
  const words = error === null ? null : text.webhooks.problem(error);
  return (
    <>
      {delivered ? (
        <Notice kind="good" title={text.webhooks.taken(duration_ms)} />
      ) : (
        <Notice kind="warn" title={text.webhooks.notTaken} words={words} />
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
