import type { Command } from 'commander';
import { testedJson } from '../../../../model/delivery.ts';
import { CallFailed } from '../../../call-failed.ts';
import type { CliIo } from '../../../io.ts';
import { oneCall } from '../../../one-call.ts';
import { outcomeLines } from '../outcome.ts';

/** Adds `webhooks endpoints test`, which sends a test message. */
export function addEndpointsTest(endpoints: Command, io: CliIo): void {
  const command = endpoints
    .command('test')
    .description(
      'Send a signed message of type webhook.test to an endpoint, and show its answer; exit code 1 unless it answers 200.',
    )
    .argument('<endpoint>', 'id of the endpoint, or "configured" for the one of --webhook-url');
  oneCall<ReturnType<typeof testedJson>, [string]>(io, command, {
    examples: ['webhooks endpoints test ep_2a2a...', 'webhooks endpoints test configured'],
    call: (sidecar, { args: [id] }) => sidecar.testWebhookEndpoint({ id }),
    answer: testedJson(),
    lines: outcomeLines,
    after: ({ delivered, error }) => {
      if (delivered) return;
      throw new CallFailed(
        `The test was not delivered: ${error ?? 'the receiver did not take it'}.`,
      );
    },
  });
}
