import { paymentJson } from '../model/payment.ts';
import type { AskSidecar } from './http.ts';
import type { CliIo } from './io.ts';
import { paymentLines, requireNotFailed } from './terminal/payment-text.ts';
import { show } from './terminal/show.ts';

interface Followed {
  readonly index: string;
  /** Without it the wait has no end. */
  readonly timeoutSecs?: number | undefined;
  readonly json?: boolean | undefined;
}

/** Waits until a payment is final, and prints it. Progress goes to stderr. Throws when the payment failed. */
export async function followPayment(
  io: CliIo,
  ask: AskSidecar,
  { index, timeoutSecs, json }: Followed,
): Promise<void> {
  io.stderr('Waiting for the payment. Ctrl-C stops the wait, but not the payment.');
  const answer = await ask(
    (sidecar) => sidecar.waitForPayment({ index, timeout_secs: timeoutSecs }),
    paymentJson(),
    'Waiting for the payment',
  );
  io.stderr(`The payment is ${answer.value.status}.`);
  show(io, { json: json ?? false }, answer, paymentLines);
  requireNotFailed(answer.value);
}
