import type { Command } from 'commander';
import { z } from 'zod';
import { checkPayerProof } from '../model/payer-proof.ts';
import { CallRefused } from './call-refused.ts';
import { type ConnectionFlags, withConnection } from './connection.ts';
import { withExamples } from './examples.ts';
import { sidecarClient } from './http-client.ts';
import { readPaymentIndex } from './inputs.ts';
import type { CliIo } from './io.ts';
import { printable, printableJson } from './printable.ts';
import { show } from './show.ts';
import { fields } from './table.ts';
import { grouped, moment } from './words.ts';

const createdProofJson = z.object({ proof: z.string() });
const WITHHELD = 'not disclosed';

/** `proof create` asks a running sidecar; `proof verify` checks in this very process, asking nobody. */
export function addProof(parent: Command, io: CliIo): void {
  const proof = parent.command('proof').description('Proofs of payment (BOLT 12).');
  withExamples(proof, 'proof create 0000001764000000000-fs_...', 'proof verify lnp1...');
  addCreate(proof, io);
  addVerify(proof, io);
}

function addCreate(proof: Command, io: CliIo): void {
  const command = proof
    .command('create')
    .description('Prove that the wallet paid an offer.')
    .argument('<index>', 'index of a completed outbound offer payment', readPaymentIndex)
    .option('--note <text>', 'note bound to the proof, such as a challenge');
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

function addVerify(proof: Command, io: CliIo): void {
  const command = proof
    .command('verify')
    .description('Check a proof and show what it discloses; exit code 1 when it is not valid.')
    .argument('<proof>', 'lnp1...')
    .option('--json', 'print JSON');
  withExamples(command, 'proof verify lnp1...', 'proof verify lnp1... --json').action(
    (text: string, flags: { readonly json?: boolean }) => {
      const checked = checkPayerProof(text);
      if (flags.json) io.stdout(printableJson(JSON.stringify(checked)));
      if (!checked.valid) throw new CallRefused(checked.reason);
      if (flags.json) return;
      const lines = fields({
        'Paid by (payer key)': checked.payer_id,
        'Paid to (payee key)': checked.payee_node_id,
        'Payment hash': checked.payment_hash,
        'Amount (sats)': grouped(checked.invoice_amount, WITHHELD),
        'Invoice created': moment(checked.invoice_created_at, WITHHELD),
        'Offer description': checked.offer_description ?? WITHHELD,
        'Offer issuer': checked.offer_issuer ?? WITHHELD,
        "Payer's message": checked.invreq_payer_note ?? WITHHELD,
        'Note of this proof': checked.proof_note ?? WITHHELD,
      });
      for (const line of lines) io.stdout(line);
    },
  );
}
