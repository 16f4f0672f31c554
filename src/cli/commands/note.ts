import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { show } from '../terminal/show.ts';

/** Adds `note`, which sets or clears the private note of a payment. */
export function addNote(parent: Command, io: CliIo): void {
  const command = parent
    .command('note')
    .description("Set a payment's private note, or clear it.")
    .argument('<index>', 'index of the payment', readPaymentIndex)
    .argument('[text]', 'the note; only you see it')
    .option('--clear', 'remove the note');
  withExamples(
    withConnection(command),
    'note 0000001764000000000-ln_... "Lunch with Bob"',
    'note 0000001764000000000-ln_... --clear',
  ).action(
    async (
      index: string,
      text: string | undefined,
      flags: ConnectionFlags & { readonly clear?: boolean },
    ) => {
      if ((text === undefined) !== (flags.clear === true)) {
        command.error('give either the text of the note or --clear');
      }
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.updatePersonalNote({ index, personal_note: text ?? null }),
        z.object({}),
      );
      show(io, flags, answer, () => [text === undefined ? 'The note is cleared.' : 'Noted.']);
    },
  );
}
