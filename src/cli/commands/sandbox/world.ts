import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { readHex32, readSeconds, readWholeIn } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { printable } from '../../terminal/printable.ts';
import { grouped, moment } from '../../terminal/words.ts';

const heightJson = z.object({ height: z.int() });
const replacedJson = z.object({ txid: z.string() });
const clockJson = z.object({ now: z.int() });

/** Adds `sandbox hold`, which decides a held payment. */
export function addSandboxHold(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('hold')
    .description('Decide a payment that an outside node holds.')
    .argument(
      '<hash>',
      'hash of the payment, as "sandbox invoice --behavior hold" shows it',
      readHex32,
    )
    .addArgument(new Argument('<decision>', 'whether it succeeds').choices(['settle', 'fail']));
  oneCall<z.ZodType, [string, 'settle' | 'fail']>(io, command, {
    examples: ['sandbox hold 7c7c... settle'],
    call: (_, { args: [payment_hash, decision] }, { transport }) =>
      transport.post('/sandbox/holds', { payment_hash, settle: decision === 'settle' }),
    answer: z.object({}),
    lines: (_, { args: [, decision] }) => [decision === 'settle' ? 'Settled.' : 'Failed.'],
  });
}

/** Adds `sandbox block`, which mines blocks. */
export function addSandboxBlock(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('block')
    .description('Mine blocks.')
    .argument('[count]', 'how many', readWholeIn(1, 10_000), 1);
  oneCall<typeof heightJson, [number]>(io, command, {
    examples: ['sandbox block', 'sandbox block 6'],
    call: (_, { args: [count] }, { transport }) => transport.post('/sandbox/blocks', { count }),
    answer: heightJson,
    lines: ({ height }) => [`Height  ${grouped(String(height))}`],
  });
}

/** Adds `sandbox replace`, which takes back an unconfirmed payment of the outside world. */
export function addSandboxReplace(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('replace')
    .description('Let the outside world take back an unconfirmed on-chain payment.')
    .argument('<txid>', 'the transaction to replace', readHex32);
  oneCall<typeof replacedJson, [string]>(io, command, {
    examples: ['sandbox replace 3e3e...'],
    call: (_, { args: [txid] }, { transport }) => transport.post('/sandbox/replace', { txid }),
    answer: replacedJson,
    lines: ({ txid }) => [`Replaced by  ${printable(txid)}`],
  });
}

/** Adds `sandbox clock`, which moves the clock of the sandbox forward. */
export function addSandboxClock(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('clock')
    .description("Move the sandbox node's clock forward, for expiries, freezes and budgets.")
    .argument('<duration>', 'how far, such as 90s, 2h or 7d', readSeconds);
  oneCall<typeof clockJson, [number]>(io, command, {
    examples: ['sandbox clock 2h'],
    call: (_, { args: [advance_secs] }, { transport }) =>
      transport.post('/sandbox/clock', { advance_secs }),
    answer: clockJson,
    lines: ({ now }) => [`It is now ${moment(now)}`],
  });
}
