import { base64url, hex } from '@scure/base';
import { isFinal } from '../../../model/payment.ts';
import type { Observation } from '../../node.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndWallet } from '../reads/wallet.ts';
import { invoiceObservations } from '../words/translate.ts';
import { invoiceShape } from '../words/wire.ts';

/** The most hold invoices that are followed at a time: each takes a connection to LND. */
const MOST_FOLLOWED = 32;

/** Follows open hold invoices one by one, because LND's stream of invoices does not report what is held. */
export interface Holds {
  /** Follows an invoice until it is final; does nothing for one that is followed, or beyond the limit. */
  readonly follow: (hash: string) => void;
  /** Whether an invoice was beyond the limit since this was last asked. */
  takeLeftOut(): boolean;
}

/** Opens the followers of a feed. They end with `signal`. */
export function openHolds(parts: {
  readonly rest: LndRest;
  readonly wallet: LndWallet;
  readonly add: (observations: readonly Observation[]) => void;
  readonly signal: AbortSignal;
}): Holds {
  const { rest, wallet, add, signal } = parts;
  const followed = new Set<string>();
  let leftOut = false;

  async function run(hash: string): Promise<void> {
    const path = `/v2/invoices/subscribe/${base64url.encode(hex.decode(hash))}`;
    for await (const invoice of rest.stream('GET', path, undefined, invoiceShape, signal)) {
      const seen = invoiceObservations(invoice, wallet.clock.now());
      add(seen);
      if (seen.every(({ payment }) => isFinal(payment))) return;
    }
  }

  return {
    follow(hash) {
      if (followed.has(hash)) return;
      if (followed.size >= MOST_FOLLOWED) {
        leftOut = true;
        return;
      }
      followed.add(hash);
      run(hash)
        // The next read of the lists follows it again, and shows its state where the macaroon may not follow it.
        .catch(() => undefined)
        .finally(() => followed.delete(hash));
    },
    takeLeftOut() {
      const was = leftOut;
      leftOut = false;
      return was;
    },
  };
}
