import { Inbox } from '../../remote/follow/inbox.ts';
import type { FollowCursor } from './cursor.ts';

/** Collects what LND's streams and this process report. Of the cursor, the streams move only the settle index. */
export class LndInbox extends Inbox<FollowCursor> {
  isDeafToInvoices = false;

  constructor() {
    super(({ settleIndex: before = 0 }, { settleIndex: now = 0 }) => ({
      settleIndex: Math.max(before, now),
    }));
  }
}
