import type { Payment } from '../../model/payment.ts';
import type { SendOutcome, SendReport } from '../../nodes/node.ts';
import type { SpendState } from '../../store/ports.ts';
import { isOfAmount } from '../follow/observe.ts';

/** What the node said of a spend. */
export type Word =
  /** It refused this very request, which therefore made nothing. */
  | 'refused'
  /** It gave no usable answer, or shows no attempt. */
  | 'silent'
  /** It shows the attempt of the spend, or one of which nobody can tell whether it is. */
  | 'own'
  /** It made none for this request, since an attempt of another program is not over, or was not when it was asked. */
  | 'other_open'
  /** An attempt of another program has paid the same hash. */
  | 'other_paid'
  /** It certainly does not have the payment and will never make it. */
  | 'never';

/** To what the word answers. */
export type Question =
  /** The first request to send. */
  | 'request'
  /** The request to publish a signed transaction, which is the spend's own wherever it is shown. */
  | 'publish'
  /** The same request, sent again. */
  | 'repeat'
  /** A look-up. */
  | 'look'
  /** A look-up after the time in which a request on its way reaches the node or is lost. */
  | 'late_look'
  /** The look-up after a restart at a node that keeps the history itself, and told no reader of the spend. */
  | 'untold_look';

/** What becomes of the spend. */
export type Fate =
  /** What the node shows is stored, and the feed tells the rest. */
  | 'record'
  /** The spend is undone, since nothing was sent. */
  | 'give_up'
  /** The spend is undone in favor of the row that has the other attempt. */
  | 'give_way'
  /** The payment ends as failed. */
  | 'fail'
  /** The same request is sent again, where the node makes one payment of it. */
  | 'send_again'
  /** Nothing changes: the node is asked again, or its feed tells. */
  | 'wait';

const LOOK = {
  refused: 'wait',
  silent: 'wait',
  own: 'record',
  other_open: 'wait',
  other_paid: 'give_way',
  never: 'fail',
} as const satisfies Record<Word, Fate>;

const FATES: Record<'asked' | 'known', Record<Question, Record<Word, Fate>>> = {
  // The request may have left.
  asked: {
    request: { ...LOOK, refused: 'give_up', other_open: 'give_way' },
    publish: { ...LOOK, refused: 'give_up' },
    // A refusal of the repeat says nothing of the first request.
    repeat: { ...LOOK, never: 'wait' },
    look: LOOK,
    late_look: { ...LOOK, silent: 'send_again' },
    untold_look: { ...LOOK, never: 'give_up' },
  },
  // The node has shown an attempt, whose end its feed tells. Where the request made nothing, it was not its own.
  known: {
    request: { ...LOOK, refused: 'give_way', other_open: 'give_way', never: 'wait' },
    publish: { ...LOOK, never: 'wait' },
    repeat: { ...LOOK, never: 'wait' },
    look: { ...LOOK, never: 'wait' },
    late_look: { ...LOOK, never: 'wait' },
    untold_look: { ...LOOK, never: 'wait' },
  },
};

/**
 * Decides what becomes of a spend by its state, what the node said, and to what (docs/decisions.md 34, 142). The
 * request of a spend that is only begun has certainly not left.
 */
export function fateOf(state: SpendState, question: Question, word: Word): Fate {
  return state === 'begun' ? 'give_up' : FATES[state][question][word];
}

/**
 * What a report or an outcome says. Of the answer to a first request a node knows whose attempt it is. Later an attempt
 * that has no label of the wallet and pays another amount than `asked` is another program's.
 */
export function wordOf(
  said: SendReport | SendOutcome,
  asked: Pick<Payment, 'amountMsat'> | null = null,
): Word {
  switch (said.state) {
    case 'known':
      return asked === null || said.attempt === null || isOfAmount(said.payment, asked)
        ? 'own'
        : otherWord(said.payment);
    case 'unknown':
      return 'silent';
    case 'taken':
      return otherWord(said.payment);
    default:
      return said.state;
  }
}

function otherWord({ status }: Pick<Payment, 'status'>): Word {
  return status === 'completed' ? 'other_paid' : 'other_open';
}
