import { holdInvoiceRules } from './node/hold-invoices.ts';
import { identityRules } from './node/identity.ts';
import { invoiceRules } from './node/invoices.ts';
import { type NodeKindUnderTest, runRules } from './node/kind.ts';
import { offerRules } from './node/offers.ts';
import { paymentRules } from './node/payments.ts';
import { railRules } from './node/rails.ts';
import { spontaneousRules } from './node/spontaneous.ts';
import { updateRules } from './node/updates.ts';

/**
 * What every kind of node must do behind the port src/nodes/node.ts. A rule that a kind cannot keep is declared with
 * its reason (`cannot`), and shown as skipped with it; so are the rules of optional groups that a kind has not.
 */
export function nodeContract(kind: NodeKindUnderTest): void {
  runRules(kind, [
    identityRules,
    invoiceRules,
    paymentRules,
    updateRules,
    railRules,
    offerRules,
    spontaneousRules,
    holdInvoiceRules,
  ]);
}
