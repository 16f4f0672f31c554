import { z } from 'zod';
import { elapsedMs } from '../../lib/clock.ts';
import { printable } from '../../lib/printable.ts';
import { sleep } from '../../lib/sleep.ts';
import { CallFailed } from '../call-failed.ts';
import { type Asking, asking, flag } from '../command.ts';
import type { Answer, AskSidecar } from '../http.ts';
import { readSeconds } from '../inputs.ts';
import { inOwnWords } from '../own-words.ts';
import { withProgress } from '../terminal/progress.ts';
import { show } from '../terminal/show.ts';

const healthJson = z.object({ status: z.string(), budgets: z.string().optional() });
type Health = Answer<z.output<typeof healthJson>>;

/** How long to wait before the sidecar is asked again. It answers at once, so it cannot be waited for in one call. */
const PAUSE_MS = 250;
/** How long one look may take. The last one has the least even where the time is over, so that it can be answered. */
const LEAST_LOOK_MS = 1000;
const MOST_LOOK_MS = 5000;
const DEFAULT_TIMEOUT_SECS = 60;

/** Adds `health`, which says whether the sidecar is ready, and can wait until it is. */
export const addHealth = asking(
  'health',
  {
    about: 'Say whether the sidecar is ready, or what is missing; exit code 1 if something is.',
    words: {
      wait: flag('--wait', 'wait until nothing is missing'),
      timeout: flag(
        '--timeout <duration>',
        'with --wait: how long, in seconds or such as 2m',
        readSeconds,
        DEFAULT_TIMEOUT_SECS,
      ),
    },
    examples: ['health', 'health --wait --timeout 2m'],
  },
  async ({ wait, timeout }, { io, flags, ask }) => {
    const health = wait
      ? await withProgress(io.terminal, 'Waiting until the sidecar is ready', () =>
          whenReady((signal) => look(ask, signal), timeout),
        )
      : await ask((sidecar) => sidecar.health(), healthJson);
    show(io, flags, health, ({ status }) => [printable(inOwnWords(status, []))]);
    const { status, budgets } = health.value;
    if (budgets !== undefined && !status.includes(budgets)) io.stderr(printable(budgets));
    if (!isReady(health)) throw new CallFailed('Something is missing, as the status says.');
  },
);

/** Tells which programs a new budget does not bound; nothing where that cannot be asked. */
export async function tellOutOfBudgets({ io, ask }: Pick<Asking, 'io' | 'ask'>): Promise<void> {
  const asked = ask((sidecar) => sidecar.health(), healthJson, null);
  const budgets = await asked.then(({ value }) => value.budgets).catch(() => undefined);
  if (budgets !== undefined) io.stderr(printable(budgets));
}

async function look(ask: AskSidecar, signal: AbortSignal): Promise<Health> {
  try {
    return await ask((sidecar) => sidecar.health({ signal }), healthJson, null);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CallFailed('The sidecar does not answer in time: read its log, or check --url.');
  }
}

/** Asks until the sidecar is ready or the time is over; then it returns or throws what came last. */
async function whenReady(
  lookUntil: (signal: AbortSignal) => Promise<Health>,
  timeoutSecs: number,
): Promise<Health> {
  const endMs = elapsedMs() + timeoutSecs * 1000;
  for (;;) {
    const leftMs = Math.max(endMs - elapsedMs(), LEAST_LOOK_MS);
    const signal = AbortSignal.timeout(Math.ceil(Math.min(leftMs, MOST_LOOK_MS)));
    try {
      const health = await lookUntil(signal);
      if (isReady(health) || elapsedMs() >= endMs) return health;
    } catch (error) {
      if (!(error instanceof CallFailed) || elapsedMs() >= endMs) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

function isReady({ value }: Health): boolean {
  return value.status === 'ok';
}
