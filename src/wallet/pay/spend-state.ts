import type { Payment } from '../../model/payment.ts';
import type { SendOutcome, SendReport, WalletNode } from '../../nodes/node.ts';
import type { ObservedPayment, Spend as SpendRow, SpendState } from '../../store/ports.ts';
import { isOfAmount } from '../follow/observe.ts';

/*
 * The states of a spend, the same for every kind of node (docs/architecture.md, A spend):
 *
 *   state   is durable                       after a crash, or an answer that was lost
 *   named   the Idempotency-Key's row        the repeat begins anew, under the same names
 *   begun   row, watch, reservation          given up: the request has certainly not left
 *   awaiting  the same, what will be sent,   it waits on for approval, until its time is over: the request leaves
 *           until when; readers are shown it only when it is approved
 *   asked   what is sent, the key's index,   pending: the node is asked until it shows the attempt, or is known never
 *           the hidden row of the journal    to make it; what it does not show for long is sent again
 *   known   the node's attempt               its feed tells the end
 *   over    end, delivery and cost; no row   nothing is left to do
 */

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
const SHOWN = { ...LOOK, never: 'wait' } as const;

type Fates = Readonly<Record<Word, Fate>>;
/** The request may have left. */
const ASKED: Readonly<Record<Question, Fates>> = {
  request: { ...LOOK, refused: 'give_up', other_open: 'give_way' },
  publish: { ...LOOK, refused: 'give_up' },
  // A refusal of the repeat says nothing of the first request.
  repeat: SHOWN,
  look: LOOK,
  late_look: { ...LOOK, silent: 'send_again' },
  untold_look: { ...LOOK, never: 'give_up' },
};
/** The node has shown an attempt, whose end its feed tells. Where the request made nothing, it was not its own. */
const REQUEST_OF_KNOWN: Fates = { ...SHOWN, refused: 'give_way', other_open: 'give_way' };

/**
 * Decides what becomes of a spend by its state, what the node said, and to what (docs/decisions.md 34, 142). The
 * request of a spend that is only begun has certainly not left.
 */
export function fateOf(state: SpendState, question: Question, word: Word): Fate {
  if (state === 'begun') return 'give_up';
  // The node was not asked, so it can say nothing of this spend.
  if (state === 'awaiting') return 'wait';
  if (state === 'asked') return ASKED[question][word];
  return (question === 'request' ? REQUEST_OF_KNOWN : SHOWN)[word];
}

/** What becomes of a spend, and what is stored of its payment for that; null where nothing is. */
export interface Decision {
  readonly fate: Fate;
  readonly observation: ObservedPayment | null;
}

/** Decides what becomes of a spend by what the node said to the question, and at which time of the node. */
export function decide(
  { payment, state }: Pick<SpendRow, 'payment' | 'state'>,
  said: SendReport | SendOutcome,
  { question, nowMs }: { readonly question: Question; readonly nowMs: number },
): Decision {
  const isFirst = question === 'request' || question === 'publish';
  const fate = fateOf(state, question, wordOf(said, isFirst ? null : payment));
  if (fate === 'fail' && said.state === 'never') {
    const end = { finalizedAtMs: nowMs, updatedAtMs: nowMs };
    const failed: Payment = { ...payment, status: 'failed', statusMsg: said.reason, ...end };
    return { fate, observation: { payment: failed, attempt: null } };
  }
  if (fate !== 'record' && fate !== 'give_way') return { fate, observation: null };
  const seen = 'payment' in said ? said : { payment, attempt: null };
  const answers = { index: payment.index, isTaken: fate === 'give_way' };
  return { fate, observation: { ...seen, answers } };
}

/** What is done about a spend that the process before this one has left (docs/decisions.md 41). */
export function afterRestart(
  { state, payment, attempt }: SpendRow,
  { history }: Pick<WalletNode, 'history'>,
): 'give_up' | 'ask' | 'leave to the feed' | 'await approval' {
  if (state === 'begun') return 'give_up';
  if (state === 'awaiting') return 'await approval';
  // Version 0.2 may have taken another program's attempt for that of the spend: it did so where the node numbers no
  // attempts. The end of that attempt is told of another row.
  const mayBeAnothers = payment.rail !== 'onchain' && attempt === null && history === undefined;
  return state === 'asked' || mayBeAnothers ? 'ask' : 'leave to the feed';
}

const NOT_SEEN = 'not seen at the node yet';

/** Whether a payment that is looked for so long says that the node does not show it yet, and is sent again. */
export function isLate(forMs: number): boolean {
  return forMs >= 20_000;
}

/** Which question a look-up is, of a spend that the node has not shown, or that was not sent again, for so long. */
export function lookUpOf(
  { rail }: Pick<Payment, 'rail'>,
  { history }: Pick<WalletNode, 'history'>,
  { isRestart, forMs }: { readonly isRestart: boolean; readonly forMs: number },
): Question {
  if (isRestart && history) return 'untold_look';
  // A transaction that is published twice is the same one.
  return rail === 'onchain' || isLate(forMs) ? 'late_look' : 'look';
}

/** The payment of the journal with the note that the node does not show it; null where that is said, or it is over. */
export function notSeen(payment: Payment | null): ObservedPayment | null {
  if (payment?.status !== 'pending' || payment.statusMsg === NOT_SEEN) return null;
  return { payment: { ...payment, statusMsg: NOT_SEEN }, attempt: null, ownWord: true };
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
