import type { Command } from 'commander';
import { z } from 'zod';
import { readPaymentIndex } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { printable } from '../../terminal/printable.ts';

const createdProofJson = z.object({ proof: z.string() });

/** Adds `proof create`, which asks a running sidecar for a proof of a payment. */
export function addProofCreate(proof: Command, io: CliIo): void {
  const command = proof
    .command('create')
    .description('Prove that the wallet paid an offer.')
    .argument('<index>', 'index of a completed outbound offer payment', readPaymentIndex)
    .option('--note <text>', 'note that the proof contains, such as a challenge');
  oneCall<typeof createdProofJson, [string], { readonly note?: string }>(io, command, {
    examples: ['proof create 0000001764000000000-fs_... --note "For order 17"'],
    call: (sidecar, { args: [index], flags: { note: proof_note } }) =>
      sidecar.createPayerProof({ index, proof_note }),
    answer: createdProofJson,
    lines: (made) => [printable(made.proof)],
  });
}
