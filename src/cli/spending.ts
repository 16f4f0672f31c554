import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { ERROR_CODES } from '../client/index.ts';
import { CallFailed } from './call-failed.ts';
import { readKey } from './inputs.ts';
import type { CliIo } from './io.ts';

/** The flags of every command that moves money. */
export interface SpendingFlags {
  readonly idempotencyKey?: string;
  readonly yes?: boolean;
}

/** Adds the flag by which a request that moves money is repeated without doing it twice. */
export function withKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'calls with the same key do it once, so the call can be repeated (default: a new key)',
    readKey,
  );
}

/** Adds {@link SpendingFlags} to a command that asks before it spends. */
export function withSpending(command: Command): Command {
  return withKey(command).option('-y, --yes', 'do not ask before it is done');
}

/**
 * Shows what is about to be done and asks whether to do it. Nobody is asked with --yes, and where stdin or stdout is
 * not a terminal. Throws {@link CallFailed} unless the answer is yes.
 */
export async function agree(
  { stderr, terminal }: CliIo,
  { yes }: SpendingFlags,
  lines: readonly string[],
): Promise<void> {
  if (yes || !terminal.canAsk) return;
  for (const line of lines) stderr(line);
  const unwatch = terminal.onInterrupt(() => stderr('\nNothing was sent.'));
  const answer = await terminal.ask('Go on? [y/N] ').finally(unwatch);
  if (/^\s*y(es)?\s*$/i.test(answer ?? '')) return;
  throw new CallFailed('Nothing was sent.');
}

interface Spending<T> {
  readonly key: string | undefined;
  /** Flags besides the key that a repeat needs, because the request holds more than the user typed. */
  readonly flags?: readonly string[];
  readonly send: (key: string) => Promise<T>;
}

/**
 * Sends a request that moves money under an Idempotency-Key, which is shown before anything is sent. On Ctrl-C, and
 * after an error that leaves open whether it was done, a sentence says how to find out without doing it twice.
 */
export async function spendOnce<T>(io: CliIo, { key, flags = [], send }: Spending<T>): Promise<T> {
  const drawn = key ?? randomUUID();
  if (key === undefined) io.stderr(`Idempotency-Key: ${drawn}`);
  const repeat = ['--idempotency-key', drawn, ...flags].join(' ');
  const advice = `It may be on its way: run the same command with ${repeat} to get its result without paying twice.`;
  const unwatch = io.terminal.onInterrupt(() => io.stderr(`\nThe wait has ended. ${advice}`));
  try {
    return await send(drawn);
  } catch (error) {
    if (!(error instanceof CallFailed) || !error.mayHaveTakenEffect) throw error;
    // The key is new, so no call before can have been somebody's.
    if (key === undefined && error.wasNobody) throw error;
    // The key belongs to another request, so a repeat of this one gets the same error.
    if (error.code === ERROR_CODES.idempotencyConflict) throw error;
    const { message, json } = error;
    throw new CallFailed(`${message} ${advice}`, {
      mayHaveTakenEffect: true,
      ...(json === null ? {} : { json }),
    });
  } finally {
    unwatch();
  }
}
