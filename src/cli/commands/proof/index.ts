import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addProofCreate } from './create.ts';
import { addProofVerify } from './verify.ts';

/** Adds `proof`. `proof create` asks a running sidecar; `proof verify` works in this process alone. */
export function addProof(parent: Command, io: CliIo): void {
  const proof = parent.command('proof').description('Proofs of payment (BOLT 12).');
  withExamples(proof, 'proof create 0000001764000000000-fs_...', 'proof verify lnp1...');
  addProofCreate(proof, io);
  addProofVerify(proof, io);
}
