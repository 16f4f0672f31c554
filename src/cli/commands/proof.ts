import { z } from 'zod';
import { printable, printableJson } from '../../lib/printable.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, flag, group, local, optionWord } from '../command.ts';
import { utcOption } from '../connection.ts';
import { paymentArgument } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { jsonFlag } from '../options.ts';
import { fields } from '../terminal/table.ts';
import { grouped, moment } from '../terminal/words.ts';

const WITHHELD = 'not disclosed';

const create = oneCall('create', {
  about: 'Prove that the wallet paid an offer: a completed outbound payment.',
  words: {
    index: paymentArgument,
    proof_note: flag('--note <text>', 'note that the proof contains, such as a challenge'),
  },
  examples: ['proof create last --note "For order 17"'],
  call: (sidecar, given) => sidecar.createPayerProof(given),
  answer: () => z.object({ proof: z.string() }),
  lines: (made) => [printable(made.proof)],
});

/** Checks a proof in this process without calling a sidecar. */
const verify = local(
  'verify',
  {
    about: 'Check a proof and show what it discloses; exit code 1 if it is not valid.',
    words: {
      text: argument('<proof>', 'lnp1...'),
      utc: optionWord(utcOption),
      json: jsonFlag,
    },
    examples: ['proof verify lnp1...', 'proof verify lnp1... --json'],
  },
  async ({ text, json }, { io }) => {
    // What checks signatures takes as long to load as the rest of a command.
    const { checkPayerProof } = await import('../../model/payer-proof.ts');
    const checked = checkPayerProof(text);
    if (json) io.stdout(printableJson(JSON.stringify(checked)));
    if (!checked.valid) throw new CallFailed(checked.reason);
    if (json) return;
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

/** Adds `proof`. */
export const addProof = group(
  'proof',
  {
    about: 'Proofs of payment (BOLT 12).',
    examples: ['proof create last', 'proof verify lnp1...'],
  },
  [create, verify],
);
