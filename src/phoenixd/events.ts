import type { ReadableStreamDefaultReader } from 'node:stream/web';
import type { PaymentJson } from '../model/payment.ts';
import { satsOf } from './payments.ts';

/** Of how many payments a stream remembers that it told them: a later change of one, such as a note, is no news. */
const REMEMBERED = 1000;

/** Yields what phoenixd tells of each Lightning payment that has arrived. */
export async function* received(
  events: ReadableStreamDefaultReader<string>,
  nowMs: () => number,
): AsyncGenerator<object, void> {
  const hasArrived = ({ status, direction, hash }: PaymentJson) =>
    status === 'completed' && direction === 'inbound' && hash !== null;
  for await (const payment of news(events, (one) => (hasArrived(one) ? one.index : null))) {
    const { hash: paymentHash, external_id: externalId, message: payerNote } = payment;
    const amountSat = satsOf(payment.amount);
    const what = { amountSat, paymentHash, externalId, payerNote };
    yield { type: 'payment_received', timestamp: nowMs(), ...what };
  }
}

/** Yields payments of a stream of events once for each name that `nameOf` gives them; those without one never. */
export async function* news(
  events: ReadableStreamDefaultReader<string>,
  nameOf: (payment: PaymentJson) => string | null,
): AsyncGenerator<PaymentJson, void> {
  const told = new Set<string>();
  let rest = '';
  for (;;) {
    const { value, done } = await events.read();
    if (done) return;
    const whole = (rest + value).split('\n\n');
    rest = whole.pop() ?? '';
    for (const event of whole) {
      const [, data = 'null'] = /^event: payment\ndata: (.+)$/m.exec(event) ?? [];
      const payment: PaymentJson | null = JSON.parse(data);
      const name = payment && nameOf(payment);
      if (name === null || told.has(name)) continue;
      const [oldest] = told.add(name);
      if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
      yield payment as PaymentJson;
    }
  }
}
