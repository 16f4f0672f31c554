import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import { type PaymentJson, paymentJson } from '../../model/payment.ts';
import { ADDRESS_TYPES, createdInvoiceJson } from '../../model/receive.ts';
import { argument, asking, flag } from '../command.ts';
import { followPayment } from '../follow.ts';
import {
  readCurrency,
  readHex32,
  readPositiveAmount,
  readSeconds,
  readSecondsUpTo,
} from '../inputs.ts';
import { paymentArgument } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { externalIdFlag, noteFlag, priceFlag } from '../options.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';
import { addressQrText, invoiceQrText, offerQrText, qrLines } from '../terminal/qr.ts';
import { show } from '../terminal/show.ts';

const qr = flag('--no-qr', 'do not print the QR code');

/** Adds `invoice`, which creates and shows an invoice. With --wait it then waits for the payment. */
export const addInvoice = asking(
  'invoice',
  {
    about:
      'Create a Lightning invoice. Print it, its QR code and its index. With --wait and --json the payment is printed on a second line.',
    words: {
      amount: argument(
        '[amount]',
        'amount in sats; without it the payer chooses',
        readPositiveAmount,
      ),
      description: flag('--description <text>', 'text for the payer'),
      description_hash: flag(
        '--description-hash <hex>',
        'SHA-256 of a text that the payer gets elsewhere, in place of --description',
        readHex32,
      ),
      payment_hash: flag(
        '--payment-hash <hex>',
        'make a hold invoice for this hash: its payment is held until "settle" is called',
        readHex32,
      ),
      price: priceFlag('; binds for 5m'),
      expiration_secs: flag(
        '--expiry <duration>',
        'how long the invoice can be paid, such as 15m or 2h, at most 7d (default: 1d)',
        readSecondsUpTo('7d'),
      ),
      personal_note: noteFlag,
      external_id: externalIdFlag,
      qr,
      wait: flag('--wait', 'wait until the invoice is paid; exit code 1 if it expires'),
    },
    examples: [
      'invoice 1000 --description Coffee --external-id order-17 --wait',
      'invoice --expiry 15m --no-qr',
      'invoice --price "12.50 EUR"',
      'invoice 0.5 --json',
    ],
  },
  async ({ qr, wait, ...body }, { io, flags, ask }) => {
    const created = await ask((sidecar) => sidecar.createInvoice(body), createdInvoiceJson());
    const { index } = created.value;
    show(io, flags, created, ({ invoice, lsp_fee: lspFee }) => [
      printable(invoice),
      ...(qr ? qrLines(io, invoiceQrText(invoice)) : []),
      `Index  ${printable(index)}`,
      ...(lspFee === null
        ? []
        : [`The LSP takes ${printable(lspFee)} sats of the payment for opening a channel.`]),
    ]);
    if (wait) await followPayment(io, ask, { index, json: flags.json ?? false });
  },
);

/** Adds `offer`, which creates and shows a reusable offer. */
export const addOffer = oneCall('offer', {
  about: 'Create a BOLT 12 offer, which can be paid many times. Print it and its QR code.',
  words: {
    description: flag('--description <text>', 'text for the payer'),
    min_amount: flag('--min-amount <sats>', 'smallest amount (default: any)', readPositiveAmount),
    expiration_secs: flag(
      '--expiry <duration>',
      'how long the offer can be paid, such as 30d (default: for ever)',
      readSeconds,
    ),
    external_id: externalIdFlag,
    qr,
  },
  examples: ['offer --description Donations', 'offer --min-amount 100 --expiry 30d --no-qr'],
  call: (sidecar, { qr: _, ...body }) => sidecar.createOffer(body),
  answer: () => z.object({ offer: z.string() }),
  lines: ({ offer }, { qr }, { io }) => [
    printable(offer),
    ...(qr ? qrLines(io, offerQrText(offer)) : []),
  ],
});

/** Adds `rate`, which shows what one bitcoin costs. */
export const addRate = oneCall('rate', {
  about: 'Show what one bitcoin costs in a currency. The sidecar needs --rate-source for it.',
  words: { currency: argument('<currency>', 'code such as EUR', readCurrency) },
  examples: ['rate EUR'],
  call: (sidecar, { currency }) => sidecar.rate({ currency }),
  answer: () => z.object({ rate: z.string(), rate_source: z.string() }),
  lines: ({ rate, rate_source }, { currency }) => [
    printable(`1 BTC = ${rate} ${currency} (${rate_source})`),
  ],
});

/** Adds `address`, which shows the next unused on-chain address. */
export const addAddress = oneCall('address', {
  about:
    'Print an on-chain address and its QR code. It stays the same until it receives a payment.',
  words: {
    type: flag('--type <type>', 'kind of the address; segwit unless given', ADDRESS_TYPES),
    qr,
  },
  examples: ['address', 'address --type taproot --no-qr'],
  call: (sidecar, { type }) => sidecar.getNextUnusedAddress({ type }),
  answer: () => z.object({ address: z.string() }),
  lines: ({ address }, { qr }, { io }) => [
    printable(address),
    ...(qr ? qrLines(io, addressQrText(address)) : []),
  ],
});

/** Adds `cancel`, which cancels an invoice that nobody has paid. */
export const addCancel = asking(
  'cancel',
  {
    about:
      'Cancel a pending invoice, so that it can no longer be paid. What is held for it goes back to the payer.',
    words: { index: paymentArgument },
    examples: ['cancel last'],
  },
  async (given, { io, flags, ask }) => {
    const answer = await ask((sidecar) => sidecar.cancelPayment(given), z.object({}));
    // Credentials that may cancel need not be able to read.
    const look = () => ask((sidecar) => sidecar.payment(given), paymentJson());
    const payment = flags.json ? null : await look().catch(() => null);
    show(io, flags, answer, () => [canceledWords(payment?.value ?? null)]);
  },
);

/** Says what the sidecar's answer leaves out: for a payment that had failed before it is the same. */
function canceledWords(payment: PaymentJson | null): string {
  if (payment === null) return 'Canceled, or failed before: nothing will come of this payment.';
  const { direction, status, status_msg } = payment;
  const wasOver = status === 'failed' && (direction === 'outbound' || status_msg !== 'canceled');
  return wasOver
    ? `Nothing was canceled: the payment had failed before (${printable(status_msg)}).`
    : 'Canceled: the invoice can no longer be paid.';
}

/** Adds `settle`, which takes the money of a held invoice. */
export const addSettle = oneCall('settle', {
  about: 'Settle a hold invoice whose payment is held ("cancel" gives it back).',
  words: {
    index: paymentArgument,
    preimage: argument(
      '<preimage>',
      '64 hex characters whose SHA-256 is the hash of the invoice',
      readHex32,
    ),
  },
  examples: ['settle 3de403f1aa 5a5a...'],
  call: (sidecar, given) => sidecar.settleInvoice(given),
  lines: () => ['Settled: the payment is completed.'],
});

/** Adds `withdraw`, which takes money from an LNURL-withdraw service. */
export const addWithdraw = oneCall('withdraw', {
  about: 'Withdraw from an LNURL-withdraw service. It waits until the money has arrived.',
  words: {
    lnurl: argument('<lnurl>', 'lnurl1... or lnurlw://...'),
    amount: argument(
      '[amount]',
      'amount in sats; the most that the service gives unless given',
      readPositiveAmount,
    ),
    description: flag('--description <text>', 'description that the service can read'),
    personal_note: noteFlag,
    external_id: externalIdFlag,
  },
  examples: ['withdraw lnurl1...', 'withdraw lnurl1... 500 --note "Voucher 17"'],
  doing: 'Waiting for the money',
  money: {},
  call: (sidecar, given, { key }) => sidecar.withdrawLnurl(given, { idempotencyKey: key }),
  answer: paymentJson,
  lines: paymentLines,
  after: requireNotFailed,
});

/** Adds `buy`, which starts a purchase in a payment app. */
export const addBuy = oneCall('buy', {
  about: 'Buy Bitcoin through a payment app: print the link to open within two hours.',
  words: {
    amount: argument('<amount>', 'amount in sats', readPositiveAmount),
    external_id: externalIdFlag,
  },
  examples: ['buy 50000'],
  call: (sidecar, given) => sidecar.buyWithPaymentApp(given),
  answer: () => z.object({ redirect_url: z.string(), index: z.string() }),
  lines: ({ redirect_url, index }) => [printable(redirect_url), `Index  ${printable(index)}`],
});
