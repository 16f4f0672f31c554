import { useEffect, useRef, useState } from 'preact/hooks';
import type { Payment } from '../../client/index.ts';
import { type KeptPayment, keptPayments, type MoneyRequest, senderOf } from '../values/kept.ts';
import { newKey } from '../values/key.ts';
import { mayBeSent } from '../values/outcome.ts';
import type { Sidecar } from './sidecar.ts';
import { useMay, useSignedIn } from './signed-in.tsx';

/** How long to wait before a request whose outcome is unknown is repeated, in milliseconds. */
const AGAIN_MS = 2000;

/**
 * How a payment of this tab stands. `asking`: sent, without an answer. `unknown`: no answer came, and the request is
 * repeated under its key. `known`: the sidecar has it; its status says the rest. `refused`: certainly nothing was sent.
 * `foreign`: another caller began it, so it is not repeated.
 */
export type MoneyStanding =
  | { readonly state: 'none' }
  | { readonly state: 'asking'; readonly kept: KeptPayment }
  | { readonly state: 'unknown'; readonly kept: KeptPayment; readonly error: Error }
  | { readonly state: 'known'; readonly kept: KeptPayment; readonly payment: Payment }
  | { readonly state: 'refused'; readonly error: Error }
  | { readonly state: 'foreign' };

interface Money {
  readonly standing: MoneyStanding;
  /** Keeps the request, then sends it. While another one is not over, it does nothing. */
  readonly send: (request: MoneyRequest) => void;
  /** Makes room for the next payment; the one before goes on where it is. */
  readonly clear: () => void;
}

const kept = keptPayments(sessionStorage);

/**
 * Returns the one payment that this tab makes. It is kept before it is sent, until its outcome is known; after a reload
 * the same request is repeated under the same key, so that it pays once (docs/decisions.md 49).
 */
export function useMoney(): Money {
  const { sidecar, about, live } = useSignedIn();
  const mayRead = useMay()('get_updated_payments');
  const sender = senderOf(about);
  const [standing, setStanding] = useState<MoneyStanding>(() => firstStanding(sender));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isShown = useRef(true);

  const take = (request: KeptPayment, payment: Payment) => {
    if (payment.status !== 'pending') kept.forget();
    setStanding({ state: 'known', kept: request, payment });
  };
  const ask = (payment: KeptPayment, isRepeat: boolean) => {
    sendMoney(sidecar, payment).then(
      (outcome) => {
        take(payment, outcome);
        // Who may not read payments learns of the end by repeating the request, which does it no second time.
        if (outcome.status === 'pending' && !mayRead) askLater(payment);
      },
      (error: Error) => {
        if (!mayBeSent(error, isRepeat)) {
          kept.forget();
          setStanding({ state: 'refused', error });
          return;
        }
        setStanding({ state: 'unknown', kept: payment, error });
        askLater(payment);
      },
    );
  };
  const askLater = (payment: KeptPayment) => {
    if (isShown.current) timer.current = setTimeout(() => ask(payment, true), AGAIN_MS);
  };
  useEffect(() => {
    isShown.current = true;
    if (standing.state === 'asking') ask(standing.kept, true);
    return () => {
      isShown.current = false;
      clearTimeout(timer.current);
    };
  }, [sidecar]);
  const known = standing.state === 'known' ? standing : null;
  const index = known?.payment.index ?? null;
  useEffect(() => {
    if (known === null || index === null) return;
    let question = new AbortController();
    const heard = (payment: Payment) => take(known.kept, payment);
    const look = () => {
      question = new AbortController();
      sidecar.api.payment({ index }, { signal: question.signal }).then(heard, () => undefined);
    };
    const stop = live.onChange((change) => {
      if (change !== null && change.index !== index) return;
      // What was asked before is older than the change.
      question.abort();
      if (change === null) look();
      else heard(change);
    });
    // It may have ended before this listened.
    if (mayRead && known.payment.status === 'pending') look();
    return () => {
      stop();
      question.abort();
    };
  }, [index, live, sidecar]);

  return {
    standing,
    send(request) {
      if (standing.state === 'asking' || standing.state === 'unknown') return;
      const payment = { ...request, key: newKey(), sender };
      // What the browser does not keep is not sent: after a reload it could be paid again.
      kept.keep(payment);
      setStanding({ state: 'asking', kept: payment });
      ask(payment, false);
    },
    clear() {
      clearTimeout(timer.current);
      kept.forget();
      setStanding({ state: 'none' });
    },
  };
}

/**
 * Sends a request that moves money under its key, or repeats it, which does it no second time. Returns the payment at
 * once, pending unless it is over. A withdrawal is awaited.
 */
function sendMoney({ api }: Sidecar, kept: KeptPayment): Promise<Payment> {
  const options = { idempotencyKey: kept.key, respondAfterSecs: 0 };
  switch (kept.call) {
    case 'pay':
      return api.pay(kept.request, options);
    case 'payOnchain':
      return api.payOnchain(kept.request, options);
    case 'withdrawLnurl':
      return api.withdrawLnurl(kept.request, { idempotencyKey: kept.key });
  }
}

function firstStanding(sender: string): MoneyStanding {
  const payment = kept.read();
  if (payment === null) return { state: 'none' };
  return payment.sender === sender ? { state: 'asking', kept: payment } : { state: 'foreign' };
}
