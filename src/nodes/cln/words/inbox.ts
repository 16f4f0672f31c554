import { Inbox } from '../../remote/follow/inbox.ts';
import type { FollowCursor } from './cursor.ts';

/** Collects what this process reports, and whether the node's lists must be read. Only reading moves the cursor. */
export class ClnInbox extends Inbox<FollowCursor> {
  /** Whether the next look is to include the unfinished payments of the store; the feed resets it. */
  isOpenWanted = false;

  constructor() {
    super(() => ({}));
  }

  readonly requestOpen = (): void => {
    this.isOpenWanted = true;
    this.requestLook();
  };
}
