import type { Command } from 'commander';
import { z } from 'zod';
import { attemptJson } from '../../../model/delivery.ts';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { fields } from '../../terminal/table.ts';
import { moment } from '../../terminal/words.ts';
import { outcomeLines } from './outcome.ts';

const attemptsJson = z.object({ attempts: z.array(attemptJson) });

/** The most attempts of one webhook-id that are shown: 20 are kept for each endpoint. */
const MOST_SHOWN = 100;

/** Adds `webhooks show`, which shows each attempt of a delivery. */
export function addWebhooksShow(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('show')
    .description('Show each attempt of a delivery: what was sent, and what was answered.')
    .argument('<delivery>', 'id of the delivery, as "webhooks list" shows it')
    .option('--endpoint <endpoint>', 'only attempts to this endpoint');
  withExamples(withConnection(command), 'webhooks show msg_2a2a...').action(
    async (id: string, flags: ConnectionFlags & { readonly endpoint?: string }) => {
      const { endpoint } = flags;
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.webhookAttempts({ id, endpoint, limit: MOST_SHOWN }),
        attemptsJson,
      );
      show(io, flags, answer, ({ attempts }) =>
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
      );
    },
  );
}
