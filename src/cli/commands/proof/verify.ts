import type { Command } from 'commander';
import { checkPayerProof } from '../../../model/payer-proof.ts';
import { CallFailed } from '../../call-failed.ts';
import { utcOption } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { printableJson } from '../../terminal/printable.ts';
import { fields } from '../../terminal/table.ts';
import { grouped, moment } from '../../terminal/words.ts';

const WITHHELD = 'not disclosed';

/** Adds `proof verify`, which checks a proof in this process without calling a sidecar. */
export function addProofVerify(proof: Command, io: CliIo): void {
  const command = proof
    .command('verify')
    .description('Check a proof and show what it discloses; exit code 1 if it is not valid.')
    .argument('<proof>', 'lnp1...')
    .addOption(utcOption())
    .option('--json', 'print JSON');
  withExamples(command, 'proof verify lnp1...', 'proof verify lnp1... --json').action(
    (text: string, flags: { readonly json?: boolean }) => {
      const checked = checkPayerProof(text);
      if (flags.json) io.stdout(printableJson(JSON.stringify(checked)));
      if (!checked.valid) throw new CallFailed(checked.reason);
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
