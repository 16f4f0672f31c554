import type { Payment } from '../model/payment.ts';
import type { UpdatedIndex } from '../model/payment-index.ts';
import type { Session } from './session.ts';

/** A read that is under way, and the changes that its feed had told of when it began. */
interface Reading {
  readonly changes: number;
  readonly page: Promise<readonly Payment[]>;
}

/** The reads of each credential that are under way, by what they ask for. */
const readings = new WeakMap<Session['history'], Map<string, Reading>>();

/**
 * Reads the updates after `after` as {@link History.updatedAfter} does. A change wakes all streams of a credential at
 * once, and they all ask for the same page: it is read once, and all get the same array. A read that began before the
 * feed told of the newest change is not shared with those that ask after it, because it may not hold that change.
 */
export function updatesPage(
  { history, feed }: Pick<Session, 'history' | 'feed'>,
  after: UpdatedIndex | null,
  limit: number,
): Promise<readonly Payment[]> {
  const own = readings.get(history) ?? new Map<string, Reading>();
  readings.set(history, own);
  const question = `${limit} ${after}`;
  const underWay = own.get(question);
  if (underWay?.changes === feed.changes) return underWay.page;
  const reading = { changes: feed.changes, page: history.updatedAfter(after, limit) };
  own.set(question, reading);
  const ended = () => {
    if (own.get(question) === reading) own.delete(question);
  };
  reading.page.then(ended, ended);
  return reading.page;
}
