import { errorOf } from './error.ts';
import { readEvents } from './event-stream.ts';
import type { Payment } from './generated/types.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Where to begin. */
export interface EventsOptions extends CallOptions {
  /** Exclusive: the `updatedIndex` of the last update you have dealt with. Without it: when it is opened. */
  readonly startIndex?: string | undefined;
}

/** A payment that has changed. */
export interface PaymentEvent {
  readonly payment: Payment;
  /** Keep it when you have dealt with the payment: as `startIndex` it goes on after this update. */
  readonly updatedIndex: string;
}

/**
 * The updates of all payments, for ever, with no gap: a stream that breaks is opened again after the last update it
 * gave. Rejects when the first call is refused, when the credentials end, and with the signal's reason.
 */
export async function* paymentEvents(
  transport: Transport,
  { startIndex = '', signal }: EventsOptions,
): AsyncGenerator<PaymentEvent, never> {
  let lastEventId = startIndex;
  let opened = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const stream = await transport.open('/v2/node/events', resumeAfter(lastEventId), signal);
      opened = true;
      for await (const { event, data, lastEventId: id } of readEvents(stream)) {
        if (event === 'end') {
          throw errorOf(JSON.parse(data), { method: 'GET', httpStatus: null, retryAfter: null });
        }
        if (id !== '') lastEventId = id;
        attempt = 1;
        if (event === 'payment') {
          yield { payment: JSON.parse(data) as Payment, updatedIndex: id };
        }
      }
      throw transport.unanswered('GET', 'The stream of events broke.');
    } catch (error) {
      signal?.throwIfAborted();
      const delayMs = opened ? retryDelayMs(error, attempt) : null;
      if (delayMs === null) throw error;
      await pause(delayMs, signal);
    }
  }
}

function resumeAfter(lastEventId: string): Readonly<Record<string, string>> {
  return lastEventId === '' ? {} : { 'last-event-id': lastEventId };
}
