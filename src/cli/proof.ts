import { Command } from 'commander';
import { checkPayerProof } from '../model/payer-proof.ts';
import { CallRefused, type ConnectionFlags, sidecarClient } from './http-client.ts';
import type { CliIo } from './io.ts';
import { printable } from './printable.ts';

/** `proof create` asks a running sidecar; `proof verify` checks in this very process, asking nobody. */
export function proofCommand(io: CliIo): Command {
  const proof = new Command('proof').description('Proofs of payment (BOLT 12).').exitOverride();
  proof
    .command('create')
    .description('Prove that the wallet paid an offer.')
    .argument('<index>', 'index of a completed outbound offer payment')
    .option('--note <text>', 'note bound to the proof, such as a challenge')
    .option('--url <url>', 'base URL of the sidecar')
    .option('--client-credentials <credentials>', 'client credentials')
    .option('--client-credentials-path <file>', 'file that holds client credentials')
    .option('--json', 'print JSON')
    .action(async (index: string, flags: ConnectionFlags & { note?: string; json?: boolean }) => {
      const made = await sidecarClient(io, flags)('POST', '/v2/node/create_payer_proof', {
        index,
        ...(flags.note === undefined ? {} : { proof_note: flags.note }),
      });
      io.stdout(flags.json ? JSON.stringify(made) : String(made.proof));
    });
  proof
    .command('verify')
    .description('Check a proof and show what it discloses; exit code 1 when it is not valid.')
    .argument('<proof>', 'lnp1...')
    .option('--json', 'print JSON')
    .action((text: string, flags: { json?: boolean }) => {
      const checked = checkPayerProof(text);
      if (flags.json) io.stdout(JSON.stringify(checked));
      if (!checked.valid) throw new CallRefused(checked.reason);
      if (flags.json) return;
      for (const [label, value] of Object.entries(LABELS)) {
        io.stdout(`${label.padEnd(22)} ${wordsOf(checked[value])}`);
      }
    });
  return proof;
}

const LABELS = {
  'Paid by (payer key)': 'payer_id',
  'Paid to (payee key)': 'payee_node_id',
  'Payment hash': 'payment_hash',
  'Amount (sats)': 'invoice_amount',
  'Invoice created': 'invoice_created_at',
  'Offer description': 'offer_description',
  'Offer issuer': 'offer_issuer',
  "Payer's message": 'invreq_payer_note',
  'Note of this proof': 'proof_note',
} as const;

function wordsOf(value: string | number | null): string {
  if (value === null) return 'not disclosed';
  return typeof value === 'number' ? new Date(value).toISOString() : printable(value);
}
