/**
 * A plugin of Core Lightning: it holds payments to invoices whose label begins with the first argument. The RPC method
 * `held` lists the labels of those that it holds, and `decide` settles or refuses one.
 */

import { type PluginAnswer, servePlugin } from './plugin-loop.ts';

interface Params {
  readonly payment?: { readonly label: string };
  readonly label?: string;
  readonly settle?: boolean;
}

const [, , heldLabel = ''] = process.argv;
const held = new Map<string, PluginAnswer>();

const MANIFEST = {
  rpcmethods: [
    { name: 'held', usage: '', description: 'List the labels of held payments.' },
    { name: 'decide', usage: 'label settle', description: 'Settle or refuse a held payment.' },
  ],
  hooks: [{ name: 'invoice_payment' }],
};

/** Of BOLT 4: the payee does not know these details. */
const INCORRECT_DETAILS = '400F';

servePlugin<Params>(MANIFEST, {
  invoice_payment({ payment }, answer) {
    if (payment?.label.startsWith(heldLabel)) held.set(payment.label, answer);
    else answer({ result: 'continue' });
  },
  held: (_, answer) => answer({ labels: [...held.keys()] }),
  decide({ label = '', settle = false }, answer) {
    const decided = held.get(label);
    held.delete(label);
    decided?.(settle ? { result: 'continue' } : { failure_message: INCORRECT_DETAILS });
    answer({ decided: decided !== undefined });
  },
});
