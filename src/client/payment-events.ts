import { errorOf } from './error.ts';
import { readEvents } from './event-stream.ts';
import type { Payment } from './generated/types.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Options of the event stream. */
export interface EventsOptions extends CallOptions {
  /**
   * The `updatedIndex` of the last update you have processed; the stream continues after it. Without it, the stream
   * begins with the next update.
   */
  readonly startIndex?: string | undefined;
}

/** A payment that has changed. */
export interface PaymentEvent {
  readonly payment: Payment;
  /**
   * The position of this update. Store it when you have processed the payment, and pass it as `startIndex` to continue
   * after it.
   */
  readonly updatedIndex: string;
}

/**
 * Yields the updates of all payments without gaps, and never ends by itself. When the stream breaks, it is opened again
 * after the last update. Throws when the first call gets an error, when the credentials end, and with the signal's
 * reason.
 */
export async function* paymentEvents(
  transport: Transport,
  { startIndex = '', signal }: EventsOptions,
): AsyncGenerator<PaymentEvent, never> {
  let lastEventId = startIndex;
  let opened = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const stream = await transport.open('/v2/node/events', {
        mediaType: 'text/event-stream',
        headers: resumeAfter(lastEventId),
        signal,
      });
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
      throw transport.unanswered({ method: 'GET' }, 'The stream of events broke.');
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
