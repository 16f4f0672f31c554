import type { Command } from 'commander';
import { z } from 'zod';
import { elapsedMs } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { CallFailed } from '../call-failed.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { type Answer, sidecarClient } from '../http.ts';
import { readSeconds } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';
import { withProgress } from '../terminal/progress.ts';
import { show } from '../terminal/show.ts';

interface HealthFlags extends ConnectionFlags {
  readonly wait?: boolean;
  readonly timeout: number;
}

const healthJson = z.object({ status: z.string() });
type Health = Answer<z.output<typeof healthJson>>;

/** How long to wait before the sidecar is asked again. It answers at once, so it cannot be waited for in one call. */
const PAUSE_MS = 250;
const DEFAULT_TIMEOUT_SECS = 60;

/** Adds `health`, which says whether the sidecar is ready, and can wait until it is. */
export function addHealth(parent: Command, io: CliIo): void {
  const command = parent
    .command('health')
    .description(
      'Say whether the sidecar is ready, or what is missing; exit code 1 if something is.',
    )
    .option('--wait', 'wait until nothing is missing')
    .option('--timeout <duration>', 'how long to wait', readSeconds, DEFAULT_TIMEOUT_SECS);
  withExamples(withConnection(command), 'health', 'health --wait --timeout 2m').action(
    async (flags: HealthFlags) => {
      const ask = sidecarClient(io, flags);
      const look = () => ask((sidecar) => sidecar.health(), healthJson);
      const health = flags.wait
        ? await withProgress(io.terminal, 'Waiting until the sidecar is ready', () =>
            whenReady(look, flags.timeout),
          )
        : await look();
      show(io, flags, health, ({ status }) => [printable(status)]);
      if (!isReady(health)) throw new CallFailed('Something is missing, as the status says.');
    },
  );
}

/** Asks until the sidecar is ready or the time is over; then it returns or throws what came last. */
async function whenReady(look: () => Promise<Health>, timeoutSecs: number): Promise<Health> {
  const endMs = elapsedMs() + timeoutSecs * 1000;
  for (;;) {
    const isLast = elapsedMs() >= endMs;
    try {
      const health = await look();
      if (isLast || isReady(health)) return health;
    } catch (error) {
      if (isLast || !(error instanceof CallFailed)) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

function isReady({ value }: Health): boolean {
  return value.status === 'ok';
}
