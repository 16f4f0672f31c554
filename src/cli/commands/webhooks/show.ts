import type { Command } from 'commander';
import { z } from 'zod';
import { attemptJson } from '../../../model/delivery.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { fields } from '../../terminal/table.ts';
import { moment } from '../../terminal/words.ts';
import { outcomeLines } from './outcome.ts';

const attemptsJson = z.object({ attempts: z.array(attemptJson()) });

/** The most attempts of one webhook-id that are shown: 20 are kept for each endpoint. */
const MOST_SHOWN = 100;

/** Adds `webhooks show`, which shows each attempt of a delivery. */
export function addWebhooksShow(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('show')
    .description('Show each attempt of a delivery: what was sent, and what was answered.')
    .argument('<delivery>', 'id of the delivery, as "webhooks list" shows it')
    .option('--endpoint <endpoint>', 'only attempts to this endpoint');
  oneCall<typeof attemptsJson, [string], { readonly endpoint?: string }>(io, command, {
    examples: ['webhooks show msg_2a2a...'],
    call: (sidecar, { args: [id], flags: { endpoint } }) =>
      sidecar.webhookAttempts({ id, endpoint, limit: MOST_SHOWN }),
    answer: attemptsJson,
    lines: ({ attempts }) =>
      attempts.length === 0
        ? ['No attempts of this delivery.']
        : attempts.flatMap((attempt, at) => [
            ...(at === 0 ? [] : ['']),
            ...fields({
              Attempt: moment(attempt.at),
              Endpoint: attempt.endpoint,
              Event: attempt.type,
              Payment: attempt.index,
            }),
            ...outcomeLines(attempt),
          ]),
  });
}
