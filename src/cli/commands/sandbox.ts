import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import { paymentJson } from '../../model/payment.ts';
import { argument, type Finding, flag, group } from '../command.ts';
import {
  readHex32,
  readPaymentName,
  readPositiveAmount,
  readSeconds,
  readWholeIn,
} from '../inputs.ts';
import { findPayment } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { paymentLines } from '../terminal/payment-text.ts';
import { fields } from '../terminal/table.ts';
import { grouped, moment } from '../terminal/words.ts';

const description = flag('--description <text>', 'shown to the payer');
const behavior = flag(
  '--behavior <behavior>',
  'what the outside node does with a payment (default: settle)',
  ['settle', 'fail', 'hold'],
);

const wallet = oneCall('wallet', {
  about: 'Create another wallet, signed up and funded, with full credentials.',
  examples: ['sandbox wallet', 'sandbox wallet --json'],
  call: (_, __, { transport }) => transport.post('/sandbox/wallets', {}),
  answer: () =>
    z.object({
      root_seed: z.string(),
      user_pk: z.string(),
      node_pk: z.string(),
      client_credentials: z.string(),
    }),
  lines: (made) =>
    fields({
      'Wallet key': made.user_pk,
      'Node key': made.node_pk,
      'Root seed': made.root_seed,
      Credentials: made.client_credentials,
    }),
});

const fund = oneCall('fund', {
  about: 'Give the calling wallet worthless coins.',
  words: {
    amount: argument('<amount>', 'amount in sats', readPositiveAmount),
    rail: flag('--rail <rail>', 'where the coins arrive', ['lightning', 'onchain'], 'lightning'),
  },
  examples: ['sandbox fund 50000', 'sandbox fund 50000 --rail onchain'],
  call: (_, given, { transport }) => transport.post('/sandbox/fund', given),
  answer: paymentJson,
  lines: paymentLines,
});

const pay = oneCall('pay', {
  about: "Let the outside world pay a wallet's invoice, offer, address or node.",
  words: {
    payable: argument(
      '<string>',
      'invoice, offer, address, purchase link or public key of the node',
    ),
    amount: argument(
      '[amount]',
      'amount in sats; needed if the string names none',
      readPositiveAmount,
    ),
    message: flag('--message <text>', 'message to the wallet'),
    payer_name: flag('--payer-name <text>', 'name that the payer gives itself'),
  },
  examples: ['sandbox pay lnbcrt10u1p...', 'sandbox pay lno1... 500 --message Hello'],
  call: (_, given, { transport }) => transport.post('/sandbox/pay', given),
  answer: () => z.object({ status: z.string() }),
  lines: ({ status }) => [printable(status)],
});

const invoice = oneCall('invoice', {
  about: 'Create an invoice of an outside node, for this wallet to pay.',
  words: {
    amount: argument(
      '[amount]',
      'amount in sats; without it the payer chooses',
      readPositiveAmount,
    ),
    description,
    behavior,
    expiration_secs: flag(
      '--expiry <duration>',
      'how long it can be paid, such as 15m (default: 1d)',
      readSeconds,
    ),
  },
  examples: ['sandbox invoice 1000', 'sandbox invoice 1000 --behavior hold'],
  call: (_, given, { transport }) => transport.post('/sandbox/invoice', given),
  answer: () => z.object({ invoice: z.string(), payment_hash: z.string() }),
  lines: (made) => [printable(made.invoice), `Hash  ${printable(made.payment_hash)}`],
});

const offer = oneCall('offer', {
  about: 'Create an offer of an outside node, for this wallet to pay.',
  words: {
    min_amount: argument(
      '[min-amount]',
      'smallest amount in sats; without it any',
      readPositiveAmount,
    ),
    description,
    behavior,
  },
  examples: ['sandbox offer --description Donations'],
  call: (_, given, { transport }) => transport.post('/sandbox/offer', given),
  answer: () => z.object({ offer: z.string() }),
  lines: (made) => [printable(made.offer)],
});

const lnurl = oneCall('lnurl', {
  about: 'Create an LNURL service of the outside world, which the sidecar serves.',
  words: {
    kind: argument('<kind>', 'whether it takes payments or gives withdrawals', ['pay', 'withdraw']),
    min_amount: argument('<min-amount>', 'smallest amount in sats', readPositiveAmount),
    max_amount: argument('<max-amount>', 'largest amount in sats', readPositiveAmount),
    comment_length: flag(
      '--comment-length <count>',
      'longest comment in characters',
      readWholeIn(0, 2000),
    ),
    description,
  },
  examples: ['sandbox lnurl pay 1 100000', 'sandbox lnurl withdraw 1 5000'],
  call: (_, { kind, ...body }, { transport }) =>
    transport.post('/sandbox/lnurl', { tag: `${kind}Request`, ...body }),
  answer: () => z.object({ lnurl: z.string(), url: z.string() }),
  lines: (made) => [printable(made.lnurl), `URL  ${printable(made.url)}`],
});

const hold = oneCall('hold', {
  about: 'Decide a payment that an outside node holds.',
  words: {
    payment_hash: {
      ...argument(
        '<hash>',
        'hash of the payment, as "sandbox invoice --behavior hold" shows it, or what names the payment elsewhere',
        readPaymentName,
      ),
      find: hashOf,
    },
    decision: argument('<decision>', 'whether it succeeds', ['settle', 'fail']),
  },
  examples: ['sandbox hold 7c7c... settle'],
  call: (_, { payment_hash, decision }, { transport }) =>
    transport.post('/sandbox/holds', { payment_hash, settle: decision === 'settle' }),
  lines: (_, { decision }) => [decision === 'settle' ? 'Settled.' : 'Failed.'],
});

async function hashOf(typed: string, finding: Finding): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(typed)) return typed;
  const index = await findPayment(typed, finding);
  const { value } = await finding.ask((sidecar) => sidecar.payment({ index }), paymentJson());
  return value.hash ?? index;
}

const block = oneCall('block', {
  about: 'Mine blocks.',
  words: { count: argument('[count]', 'how many', readWholeIn(1, 10_000), 1) },
  examples: ['sandbox block', 'sandbox block 6'],
  call: (_, given, { transport }) => transport.post('/sandbox/blocks', given),
  answer: () => z.object({ height: z.int() }),
  lines: ({ height }) => [`Height  ${grouped(String(height))}`],
});

const replace = oneCall('replace', {
  about: 'Let the outside world take back an unconfirmed on-chain payment.',
  words: { txid: argument('<txid>', 'the transaction to replace', readHex32) },
  examples: ['sandbox replace 3e3e...'],
  call: (_, given, { transport }) => transport.post('/sandbox/replace', given),
  answer: () => z.object({ txid: z.string() }),
  lines: ({ txid }) => [`Replaced by  ${printable(txid)}`],
});

const clock = oneCall('clock', {
  about: "Move the sandbox node's clock forward, for expiries, freezes and budgets.",
  words: { advance_secs: argument('<duration>', 'how far, such as 90s, 2h or 7d', readSeconds) },
  examples: ['sandbox clock 2h'],
  call: (_, given, { transport }) => transport.post('/sandbox/clock', given),
  answer: () => z.object({ now: z.int() }),
  lines: ({ now }) => [`It is now ${moment(now)}`],
});

/** Adds `sandbox`, the controls of the sandbox node. The sidecar has them only while that node is in use. */
export const addSandbox = group(
  'sandbox',
  {
    about: 'Control the sandbox node: its worthless coins, its chain and its outside world.',
    examples: ['sandbox fund 50000', 'sandbox pay lnbcrt10u1p...', 'sandbox block 6'],
  },
  [wallet, fund, pay, invoice, offer, lnurl, hold, block, replace, clock],
);
