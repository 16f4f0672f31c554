import { WalletSidecar } from '../../src/client/index.ts';
import { ERRORS } from '../../src/model/errors.ts';
import type { PaymentJson } from '../../src/model/payment.ts';
import { paymentId, updatedIndex } from '../../src/model/payment-index.ts';
import { send } from '../support/requests.ts';

/** Before every update. */
const START = updatedIndex(0, paymentId('ln', '0'.repeat(64)));
/** A wait ends after this time, and a new one begins. */
const WAIT_SECS = '20';
const PAUSE_MS = 50;

/** What a tail follows. */
export interface TailOptions {
  /** Where the sidecar is; asked each time a connection is opened. */
  readonly baseUrl: () => string;
  readonly credentials?: string | undefined;
}

/** A reader of all updates of a wallet, from the first on. What breaks is opened again after the last update. */
export interface Tail {
  /** What was told last of each payment, by index. */
  readonly told: ReadonlyMap<string, PaymentJson>;
  /** Sentences about updates that came twice or out of order, and errors that end the tail. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

type Tell = (payment: PaymentJson, updatedIndex: string) => void;
type Read = (after: string, tell: Tell, signal: AbortSignal) => Promise<void>;

/** Follows the event stream. */
export function tailByStream({ baseUrl, credentials }: TailOptions): Tail {
  return openTail(async (after, tell, signal) => {
    const url = baseUrl();
    const client = new WalletSidecar(credentials === undefined ? { url } : { url, credentials });
    for await (const event of client.events({ startIndex: after, signal })) {
      // The client gives payments as they came, and names the types of their amounts more narrowly.
      tell(event.payment as object as PaymentJson, event.updatedIndex);
    }
  });
}

/** Follows by one `wait_for_next_payment` after another. */
export function tailByWaits({ baseUrl, credentials }: TailOptions): Tail {
  return openTail(async (after, tell, signal) => {
    const query = { start_index: after, timeout_secs: WAIT_SECS };
    const { status, body } = await send(baseUrl(), 'GET', '/v2/node/wait_for_next_payment', {
      query,
      credentials,
      signal,
    });
    if (status === 200) tell(body.payment, body.next_start_index);
    else if (body.code !== ERRORS.timeout.code) throw body;
  });
}

function openTail(read: Read): Tail {
  const told = new Map<string, PaymentJson>();
  const problems: string[] = [];
  const over = new AbortController();
  let last: string = START;
  const tell: Tell = (payment, at) => {
    if (at <= last) problems.push(`${at} came after ${last}`);
    last = at;
    told.set(payment.index, payment);
  };
  const follow = async () => {
    while (!over.signal.aborted) {
      try {
        await read(last, tell, over.signal);
      } catch (error) {
        if (over.signal.aborted) return;
        if ((error as { code?: unknown }).code === ERRORS.rejected.code) {
          problems.push(`The tail has ended: ${JSON.stringify(error)}`);
          return;
        }
        await Bun.sleep(PAUSE_MS);
      }
    }
  };
  const following = follow();
  return {
    told,
    problems,
    async stop() {
      over.abort();
      await following;
    },
  };
}
