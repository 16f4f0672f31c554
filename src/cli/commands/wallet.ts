import { z } from 'zod';
import { ERROR_CODES } from '../../client/index.ts';
import { printable } from '../../lib/printable.ts';
import { nodeInfoJson } from '../../model/node-info.ts';
import { DIRECTIONS, paymentJson, RAILS } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, asking, flag } from '../command.ts';
import { followPayment } from '../follow.ts';
import { readName, readPast, readPosition, readSeconds, readWholeIn } from '../inputs.ts';
import { afterFlag, optionalPaymentArgument, paymentArgument } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { wideFlag } from '../options.ts';
import { PAYMENT_COLUMNS, paymentLines } from '../terminal/payment-text.ts';
import { show, tableLines } from '../terminal/show.ts';
import { fields } from '../terminal/table.ts';
import { sats } from '../terminal/words.ts';
import { findClient } from './clients/index.ts';

const FROM_NODE = 'Reading payments from the node';

/** Adds `info`, which shows the node and its balances. */
export const addInfo = oneCall('info', {
  about: 'Show the wallet node and its balances.',
  examples: ['info', 'info --json'],
  call: (sidecar) => sidecar.nodeInfo(),
  answer: nodeInfoJson,
  lines: (info) =>
    fields({
      Balance: sats(info.balance),
      'On Lightning': sats(info.lightning_balance),
      '  sendable, about': sats(info.lightning_sendable_balance),
      '  sendable, at most': sats(info.lightning_max_sendable_balance),
      'On chain': sats(info.onchain_balance),
      '  trusted': sats(info.onchain_trusted_balance),
      'Usable channels': `${info.num_usable_channels} of ${info.num_channels}`,
      'Node software': info.version,
      'Node key': info.node_pk,
      'Wallet key': info.user_pk,
    }),
});

/**
 * Adds `payments`, which shows the wallet's payments as a table. Unless --no-sync is given, it first reads new ones
 * from the node.
 */
export const addPayments = asking(
  'payments',
  {
    about: 'List payments. The local cache is brought up to date first.',
    words: {
      filter: flag(
        '--filter <state>',
        'only payments in this state; those "awaiting" wait for approval',
        ['all', 'pending', 'completed', 'failed', 'finalized', 'awaiting'],
        'all',
      ),
      order: flag('--order <order>', 'newest or oldest first', ['desc', 'asc'], 'desc'),
      limit: flag(
        '--limit <count>',
        'the largest number of payments to list, up to 1000',
        readWholeIn(1, 1000),
        100,
      ),
      after: afterFlag,
      direction: flag('--direction <direction>', 'only payments of this direction', DIRECTIONS),
      rail: flag('--rail <rail>', 'only payments of this rail', RAILS),
      since: flag(
        '--since <time>',
        'created at or after this time, such as 2030-01-31, or 7d for 7 days ago; "export" goes by when they were completed',
        readPast,
      ),
      until: flag('--until <time>', 'created before this time', readPast),
      text: flag(
        '--text <words>',
        'only payments that have each of these words, or the beginning of it',
      ),
      external_id: flag('--external-id <id>', 'only payments with this id of yours'),
      client: {
        ...flag(
          '--client <client>',
          'only payments that this client made, by its label or key',
          readName,
        ),
        find: findClient,
      },
      sync: flag('--no-sync', 'list the cache as it is, without asking the node'),
      wide: wideFlag,
    },
    examples: [
      'payments --filter completed --direction inbound --since 7d',
      'payments --order asc --limit 100 --no-sync',
      'payments --external-id order-17',
      'payments --client "Till 1" --since 1d',
      'payments --json',
    ],
  },
  async ({ sync, wide, ...query }, { io, flags, ask }) => {
    if (sync)
      await ask((sidecar) => sidecar.syncPayments(), z.unknown(), FROM_NODE).catch(withoutSync);
    const answer = await ask(
      (sidecar) => sidecar.listPayments(query),
      z.object({ payments: z.array(paymentJson()), next_index: z.string().nullable() }),
    );
    show(io, flags, answer, ({ payments }) =>
      payments.length === 0
        ? ['No payments.']
        : tableLines(io, { wide }, PAYMENT_COLUMNS, payments),
    );
    const next = answer.value.next_index;
    if (next !== null && !flags.json) {
      io.stderr(`There are more payments: add --after ${printable(next)} to continue.`);
    }
  },
);

/** Names the way to the cache where error 8, as of a full disk, keeps it from being brought up to date. */
function withoutSync(error: unknown): never {
  if (!(error instanceof CallFailed) || error.code !== ERROR_CODES.overCapacity) throw error;
  const { code, json } = error;
  const message = `${error.message} --no-sync lists what was read before.`;
  throw new CallFailed(message, { code, ...(json === null ? {} : { json }) });
}

/** Adds `show`, which shows one payment. */
export const addShow = oneCall('show', {
  about: 'Show one payment.',
  words: { index: paymentArgument },
  examples: ['show last', 'show 3de403f1aa'],
  call: (sidecar, given) => sidecar.payment(given),
  answer: paymentJson,
  lines: paymentLines,
});

/** Adds `wait`, which waits until a payment is completed or failed, or for the next update of any payment. */
export const addWait = asking(
  'wait',
  {
    about: 'Wait until a payment is completed; exit code 1 if it fails or the time runs out.',
    words: {
      index: optionalPaymentArgument,
      next: flag('--next', 'in place of a payment: wait for the next update of any payment'),
      start_index: flag(
        '--after <position>',
        'with --next: for the first update after this one',
        readPosition,
      ),
      timeout_secs: flag(
        '--timeout <duration>',
        'how long to wait, such as 30s or 2h (default: for ever)',
        readSeconds,
      ),
    },
    examples: ['wait last --timeout 10m', 'wait --next'],
    check({ index, next, start_index }) {
      if ((index === undefined) !== (next === true)) return 'give either a payment or --next';
      return start_index !== undefined && !next ? '--after needs --next' : null;
    },
  },
  async ({ index, start_index, timeout_secs }, { io, flags, ask }) => {
    if (index !== undefined) {
      const { json = false } = flags;
      return followPayment(io, ask, { index, json, timeoutSecs: timeout_secs });
    }
    const answer = await ask(
      (sidecar) => sidecar.waitForNextPayment({ start_index, timeout_secs }),
      z.object({ payment: paymentJson(), next_start_index: z.string() }),
      'Waiting for an update',
    );
    show(io, flags, answer, ({ payment }) => paymentLines(payment));
    if (!flags.json) io.stderr(`Continue with --after ${printable(answer.value.next_start_index)}`);
  },
);

/** Adds `updates`, which lists payments in the order in which they changed. */
export const addUpdates = oneCall('updates', {
  about: 'List payments in the order of their updates. It reads the node, not the cache.',
  words: {
    start_index: flag(
      '--after <position>',
      'only updates after this one, as --json, "updates" and "events" show it',
      readPosition,
    ),
    limit: flag(
      '--limit <count>',
      'the largest number of payments to list, up to 100',
      readWholeIn(1, 100),
    ),
    wide: wideFlag,
  },
  examples: ['updates', 'updates --after u0000001764000000000-ln_... --json'],
  call: (sidecar, { start_index, limit }) => sidecar.updatedPayments({ start_index, limit }),
  answer: () =>
    z.object({ payments: z.array(paymentJson()), updated_index: z.string().nullable() }),
  lines: ({ payments, updated_index: next }, _, { io, table }) => {
    if (payments.length === 0) return ['No updates.'];
    if (next !== null) io.stderr(`Continue with --after ${printable(next)}`);
    return table(PAYMENT_COLUMNS, payments);
  },
});

/** Adds `sync`, which brings the local cache of payments up to date. */
export const addSync = oneCall('sync', {
  about: 'Bring new and changed payments into the local cache.',
  words: {
    clear: flag(
      '--clear',
      'forget the cache first and read everything anew; nothing is lost at the node',
    ),
  },
  examples: ['sync', 'sync --clear'],
  doing: FROM_NODE,
  async call(sidecar, { clear }) {
    if (clear) await sidecar.clearPayments();
    return sidecar.syncPayments();
  },
  answer: () => z.object({ num_new: z.int(), num_updated: z.int() }),
  lines: ({ num_new, num_updated }) => [`New payments: ${num_new}, changed: ${num_updated}`],
});

/** Adds `note`, which sets or clears the private note of a payment. */
export const addNote = oneCall('note', {
  about: "Set a payment's private note, or clear it.",
  words: {
    index: paymentArgument,
    personal_note: argument('[text]', 'the note; only you see it'),
    clear: flag('--clear', 'remove the note'),
  },
  examples: ['note last "Lunch with Bob"', 'note 3de403f1aa --clear'],
  check: ({ personal_note, clear }) =>
    (personal_note === undefined) === (clear === true)
      ? null
      : 'give either the text of the note or --clear',
  call: (sidecar, { index, personal_note = null }) =>
    sidecar.updatePersonalNote({ index, personal_note }),
  lines: (_, { personal_note: text }) => [text === undefined ? 'The note is cleared.' : 'Noted.'],
});
