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
      if (payment?.status !== 'completed' || payment.direction !== 'inbound') continue;
      const { index, hash: paymentHash, external_id: externalId, message: payerNote } = payment;
      if (paymentHash === null || told.has(index)) continue;
      const [oldest] = told.add(index);
      if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
      const amountSat = satsOf(payment.amount);
      const what = { amountSat, paymentHash, externalId, payerNote };
      yield { type: 'payment_received', timestamp: nowMs(), ...what };
    }
  }
}
