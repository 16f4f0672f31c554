import type { Command } from 'commander';
import { testedJson } from '../../../../model/delivery.ts';
import { CallFailed } from '../../../call-failed.ts';
import { type ConnectionFlags, withConnection } from '../../../connection.ts';
import { withExamples } from '../../../examples.ts';
import { sidecarClient } from '../../../http.ts';
import type { CliIo } from '../../../io.ts';
import { show } from '../../../terminal/show.ts';
import { outcomeLines } from '../outcome.ts';

/** Adds `webhooks endpoints test`, which sends a test message. */
export function addEndpointsTest(endpoints: Command, io: CliIo): void {
  const command = endpoints
    .command('test')
    .description(
      'Send a signed message of type webhook.test to an endpoint, and show its answer; exit code 1 unless it answers 200.',
    )
    .argument('<endpoint>', 'id of the endpoint, or "configured" for the one of --webhook-url');
  withExamples(
    withConnection(command),
    'webhooks endpoints test ep_2a2a...',
    'webhooks endpoints test configured',
  ).action(async (id: string, flags: ConnectionFlags) => {
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.testWebhookEndpoint({ id }),
      testedJson,
    );
    show(io, flags, answer, outcomeLines);
    if (answer.value.delivered) return;
    throw new CallFailed(
      `The test was not delivered: ${answer.value.error ?? 'the receiver did not take it'}.`,
    );
  });
}
