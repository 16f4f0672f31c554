import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { type FakeCln, NODE_SECS, refusal } from './fake-cln.ts';

type Row = Record<string, unknown>;

/** What an attempt of {@link FakeXpay} carries. */
interface Terms {
  readonly payment_hash: string;
  readonly bolt11?: string;
  readonly bolt12?: string;
  readonly label?: string;
  /** Seconds; five after the fake's time if absent. */
  readonly created_at?: number;
  readonly amount_msat?: number;
  readonly amount_sent_msat?: number;
}

export const PREIMAGE = '77'.repeat(32);
export const PAID_HASH = hex.encode(sha256(hex.decode(PREIMAGE)));

/**
 * Pays as `xpay` does, over the list of a fake node, and by the rule of lightningd (`check_progress` in
 * lightningd/pay.c): no part of a hash begins that is paid, or has a part of another attempt on its way.
 */
export class FakeXpay {
  readonly #cln: FakeCln;
  #groups = 0;

  constructor(cln: FakeCln) {
    this.#cln = cln;
  }

  /** Begins an attempt of one part, which is returned; or the answer with which `xpay` gives way. */
  begin(terms: Terms): Row | Response {
    const before = this.#cln.sendpays.rows.filter(
      ({ payment_hash }) => payment_hash === terms.payment_hash,
    );
    if (before.some(({ status }) => status === 'complete')) {
      return refusal(219, 'Already paid this invoice successfully');
    }
    const pending = before.find(({ status }) => status === 'pending');
    if (pending) {
      const why = `Payment with groupid=${pending.groupid} still in progress, cannot retry before that completes.`;
      return refusal(
        -3,
        `Unexpected injectpaymentonion error 200: {"code":200,"message":"${why}"}`,
      );
    }
    this.#groups += 1;
    return this.#cln.addPart({ created_at: NODE_SECS + 5, ...terms, groupid: 9000 + this.#groups });
  }

  /** Ends an attempt. */
  end(part: Row, isPaid: boolean, payment_preimage = PREIMAGE): void {
    this.#cln.endPart(
      part,
      isPaid ? { status: 'complete', payment_preimage } : { status: 'failed' },
    );
  }

  /** What `xpay` answers once its attempt is paid. */
  paid({ amount_msat, amount_sent_msat, payment_preimage = PREIMAGE }: Row): Response {
    const parts = { failed_parts: 0, successful_parts: 1 };
    return Response.json(
      { payment_preimage, amount_msat, amount_sent_msat, ...parts },
      { status: 201 },
    );
  }
}
