import type { TestWebhookEndpointResponse } from '../../../client/index.ts';
import { text } from '../../texts/index.ts';

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
