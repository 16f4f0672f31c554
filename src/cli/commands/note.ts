import type { Command } from 'commander';
import { z } from 'zod';
import { readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';

/** Adds `note`, which sets or clears the private note of a payment. */
export function addNote(parent: Command, io: CliIo): void {
  const command = parent
    .command('note')
    .description("Set a payment's private note, or clear it.")
    .argument('<index>', 'index of the payment', readPaymentIndex)
    .argument('[text]', 'the note; only you see it')
    .option('--clear', 'remove the note');
  oneCall<z.ZodType, [string, string | undefined], { readonly clear?: boolean }>(io, command, {
    examples: [
      'note 0000001764000000000-ln_... "Lunch with Bob"',
      'note 0000001764000000000-ln_... --clear',
    ],
    check: ({ args: [, text], flags }) =>
      (text === undefined) === (flags.clear === true)
        ? null
        : 'give either the text of the note or --clear',
    call: (sidecar, { args: [index, text] }) =>
      sidecar.updatePersonalNote({ index, personal_note: text ?? null }),
    answer: z.object({}),
    lines: (_, { args: [, text] }) => [text === undefined ? 'The note is cleared.' : 'Noted.'],
  });
}
