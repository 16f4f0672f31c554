import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readPaymentIndex } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { printable } from '../../terminal/printable.ts';
import { show } from '../../terminal/show.ts';

const createdProofJson = z.object({ proof: z.string() });

/** Adds `proof create`, which asks a running sidecar for a proof of a payment. */
export function addProofCreate(proof: Command, io: CliIo): void {
  const command = proof
    .command('create')
    .description('Prove that the wallet paid an offer.')
    .argument('<index>', 'index of a completed outbound offer payment', readPaymentIndex)
    .option('--note <text>', 'note that the proof contains, such as a challenge');
  withExamples(
    withConnection(command),
    'proof create 0000001764000000000-fs_... --note "For order 17"',
  ).action(async (index: string, flags: ConnectionFlags & { readonly note?: string }) => {
    const body = { index, proof_note: flags.note };
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.createPayerProof(body),
      createdProofJson,
    );
    show(io, flags, answer, (made) => [printable(made.proof)]);
  });
}
