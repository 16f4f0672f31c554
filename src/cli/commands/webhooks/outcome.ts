import type { AttemptJson } from '../../../model/webhooks/delivery.ts';
import { fields } from '../../terminal/table.ts';

type Sent = Pick<
  AttemptJson,
  'id' | 'duration_ms' | 'http_status' | 'error' | 'answer' | 'request'
>;

/** Returns lines that say what was sent to a receiver, and what it answered. */
export function outcomeLines(sent: Sent): string[] {
  const { id, duration_ms, http_status, error, answer, request } = sent;
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return [
    ...fields({
      'Webhook-id': id,
      Status: http_status === null ? 'no answer' : String(http_status),
      Error: error,
      Took: `${duration_ms} ms`,
    }),
    ...fields({ Sent: headers.join(', '), Body: request.body, Answer: answer }),
  ];
}
