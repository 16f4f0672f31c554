import type {
  DeliveryAttempt,
  TestWebhookEndpointResponse,
  WebhookEndpoint,
} from '../../../client/index.ts';
import { allAttempts } from '../../api/attempts.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { Button } from '../../parts/buttons.tsx';
import { AskedPart, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { exactMoment } from '../../values/moment.ts';
import { linkTo } from '../../values/place.ts';
import { endpointName } from './deliveries.tsx';

const LOOK_MS = 2000;

interface DeliveryProps {
  /** The webhook-id. */
  readonly id: string;
  readonly endpoints: readonly WebhookEndpoint[];
}

/** The attempts to deliver one webhook, to all endpoints, the newest first. */
export function Delivery({ id, endpoints }: DeliveryProps) {
  const may = useMay();
  const asked = useAsked(({ api }, signal) => allAttempts(api, id, signal), [id]);
  const again = useAct(({ api }) => api.redeliverWebhooks({ id }), asked.again);
  useEvery(LOOK_MS, true, asked.again, again.value);
  return (
    <>
      <p>
        <a href={linkTo('webhooks')}>{text.webhooks.back}</a>
      </p>
      <section class="card">
        <h2>{text.webhooks.attempts}</h2>
        <p class="mono dim">{id}</p>
        {may('manage_webhooks') && (
          <p>
            <Button words={text.webhooks.again} isBusy={again.isBusy} onPress={again.run} />
          </p>
        )}
        <Problem error={again.error} />
        <AskedPart asked={asked} none={text.webhooks.noAttempts}>
          {(attempts) => (
            <ol class="rows">
              {attempts.toReversed().map((attempt) => (
                <li key={attempt.number}>
                  <Attempt attempt={attempt} endpoint={endpointName(attempt.endpoint, endpoints)} />
                </li>
              ))}
            </ol>
          )}
        </AskedPart>
      </section>
    </>
  );
}

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly endpoint: string;
}

function Attempt({ attempt, endpoint }: AttemptProps) {
  const isTaken = attempt.error === null;
  return (
    <>
      <p class="head">
        <span>{text.webhooks.attempt(exactMoment(attempt.at), attempt.duration_ms)}</span>
        <span class={`badge ${isTaken ? 'completed' : 'failed'}`}>
          {attempt.error === null
            ? text.webhooks.states.delivered
            : text.webhooks.problem(attempt.error)}
        </span>
      </p>
      <p class="dim">{endpoint}</p>
      <Exchange of={attempt} />
    </>
  );
}

interface ExchangeProps {
  readonly of: Pick<TestWebhookEndpointResponse, 'request' | 'http_status' | 'answer'>;
}

/** What was sent to a receiver and what it answered, folded away until somebody wants to see it. */
export function Exchange({ of: { request, http_status, answer } }: ExchangeProps) {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details class="exchange">
      <summary>{text.webhooks.exchange}</summary>
      <p class="part">{text.webhooks.sentHeaders}</p>
      <pre>{headers.join('\n')}</pre>
      <p class="part">{text.webhooks.sentBody}</p>
      <pre>{request.body}</pre>
      <p class="part">{text.webhooks.answer(http_status)}</p>
      {answer === null && <p class="dim">{text.webhooks.noAnswer}</p>}
      {answer === '' && <p class="dim">{text.webhooks.emptyAnswer}</p>}
      {answer !== null && answer !== '' && <pre>{answer}</pre>}
    </details>
  );
}
