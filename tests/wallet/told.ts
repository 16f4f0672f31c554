import type { Payment } from '../../src/model/payment.ts';
import { UpdatesTail } from '../../src/wallet/read/updates-tail.ts';
import type { Session } from '../../src/wallet/session/session.ts';

/** Follows the wallet's updates from the first on, until the session ends. Returns what it was told so far. */
export function follow(session: Session): readonly Payment[] {
  const told: Payment[] = [];
  const tail = new UpdatesTail(
    session,
    { after: null, signal: new AbortController().signal },
    {
      take: (page) => {
        told.push(...page);
        tail.ask();
      },
      fail: () => undefined,
    },
  );
  tail.ask();
  return told;
}
