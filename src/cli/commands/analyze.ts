import { z } from 'zod';
import {
  type ClaimableJson,
  claimableJson,
  type PayableJson,
  payableJson,
} from '../../model/analysis.ts';
import { argument } from '../command.ts';
import { oneCall } from '../one-call.ts';
import { fields } from '../terminal/table.ts';
import { moment, priceWords, sats } from '../terminal/words.ts';

/** Adds `analyze`, which explains a payment string without paying it. */
export const addAnalyze = oneCall('analyze', {
  about: 'Show the ways to pay a payment string, the most recommended first. Nothing is paid.',
  words: {
    payment_string: argument('<string>', 'invoice, offer, address, LNURL, name or BIP 321 URI'),
  },
  examples: ['analyze lnbc10u1p...', 'analyze "bitcoin:bc1q...?amount=0.001&lno=lno1..."'],
  call: (sidecar, given) => sidecar.analyze(given),
  answer: () =>
    z.object({ payables: z.array(payableJson()), claimables: z.array(claimableJson()) }),
  lines: ({ payables, claimables }) =>
    [...payables.map(payableLines), ...claimables.map(claimableLines)].flatMap((lines, at) =>
      at === 0 ? lines : ['', ...lines],
    ),
});

function payableLines(payable: PayableJson): string[] {
  return fields({
    'To pay': payable.kind,
    Price: payable.kind === 'offer' && payable.price ? priceWords(payable.price) : null,
    Amount: amountWords(payable.amount, payable),
    'Fee about': payable.fee_estimate === null ? null : sats(payable.fee_estimate),
    Description: payable.description || null,
    Expires: payable.expires_at === null ? null : moment(payable.expires_at),
    String: methodOf(payable),
  });
}

function claimableLines(claimable: ClaimableJson): string[] {
  return fields({
    'To withdraw': claimable.kind,
    Amount: amountWords(null, claimable),
    Description: claimable.description || null,
    String: claimable.lnurl,
  });
}

function amountWords(
  amount: string | null,
  range: { readonly min_amount: string | null; readonly max_amount: string | null },
): string {
  if (amount !== null) return sats(amount);
  const bounds = [
    ...(range.min_amount === null ? [] : [`at least ${sats(range.min_amount)}`]),
    ...(range.max_amount === null ? [] : [`at most ${sats(range.max_amount)}`]),
  ];
  return ['yours to choose', ...bounds].join(', ');
}

function methodOf(payable: PayableJson): string {
  switch (payable.kind) {
    case 'invoice':
      return payable.invoice;
    case 'offer':
      return payable.offer;
    case 'onchain':
      return payable.onchain;
    case 'lnurl-pay':
      return payable.lnurl;
  }
}
