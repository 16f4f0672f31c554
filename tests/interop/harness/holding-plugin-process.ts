/**
 * A plugin of Core Lightning: it holds payments to invoices whose label begins with the first argument. The RPC method
 * `held` lists the labels of those that it holds, and `decide` settles or refuses one.
 */

interface Request {
  readonly id?: unknown;
  readonly method: string;
  readonly params: {
    readonly payment?: { readonly label: string };
    readonly label?: string;
    readonly settle?: boolean;
  };
}

type Answer = (result: unknown) => void;

const [, , heldLabel = ''] = process.argv;
const held = new Map<string, Answer>();

const MANIFEST = {
  dynamic: true,
  options: [],
  rpcmethods: [
    { name: 'held', usage: '', description: 'List the labels of held payments.' },
    { name: 'decide', usage: 'label settle', description: 'Settle or refuse a held payment.' },
  ],
  subscriptions: [],
  hooks: [{ name: 'invoice_payment' }],
};

/** Of BOLT 4: the payee does not know these details. */
const INCORRECT_DETAILS = '400F';

const METHODS: Readonly<Record<string, (params: Request['params'], answer: Answer) => void>> = {
  getmanifest: (_, answer) => answer(MANIFEST),
  init: (_, answer) => answer({}),
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
};

let received = '';
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  received += chunk;
  // Each request ends with an empty line.
  const requests = received.split('\n\n');
  received = requests.pop() ?? '';
  for (const text of requests) {
    const { id, method, params } = JSON.parse(text) as Request;
    METHODS[method]?.(params, (result) => {
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    });
  }
});
