import { base64, hex } from '@scure/base';
import { ApiError, isApiError } from '../../../model/errors.ts';
import type { UpdatesOptions } from '../../node.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndWallet } from '../reads/wallet.ts';
import type { LndInbox } from '../words/inbox.ts';
import { isMissingAtLnd } from '../words/refusal.ts';
import { replacedPayment, type Spender } from '../words/replaced.ts';
import { spendShape } from '../words/wire.ts';

/** The number of coins watched at a time, because each takes a stream. */
const MOST_COINS = 64;
/** LND finds a coin by its outpoint alone when its script is a taproot output's, whichever it really has. */
const ANY_SCRIPT = hex.decode(
  '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
);

interface Spend {
  readonly txid: string;
  readonly height: number;
}

/**
 * Watches coins of others, by whose spender a receipt can be replaced. LND's list shows a replacement only when it
 * concerns the wallet too. LND reports a spender when a block has it, and takes the report back when a reorganization
 * removes that block (docs/decisions.md 112).
 */
export class SpendWatch {
  readonly #rest: LndRest;
  readonly #signal: AbortSignal;
  readonly #reported: (spender: Spender | null) => void;
  readonly #streams = new Map<string, AbortController>();
  readonly #spends = new Map<string, Spend>();
  #isOffered = true;

  /**
   * `reported` is called when a report arrives, with the spender as one that has its first confirmation, or with null
   * when a report is taken back. The watch ends when `signal` aborts.
   */
  constructor(rest: LndRest, signal: AbortSignal, reported: (spender: Spender | null) => void) {
    this.#rest = rest;
    this.#signal = signal;
    this.#reported = reported;
  }

  /** False once LND has shown that it does not report spenders to this macaroon. */
  get isOffered(): boolean {
    return this.#isOffered;
  }

  /**
   * Watches these coins, the first ones where there are too many, and no others. `fromHeight` is a height at which none
   * of those that are not watched yet was spent. A stream that broke is opened again by the next call.
   */
  follow(coins: readonly string[], fromHeight: number): void {
    const wanted = new Set(coins.slice(0, MOST_COINS));
    for (const [coin, stream] of this.#streams) {
      if (wanted.has(coin)) continue;
      stream.abort();
      this.#forget(coin, stream);
    }
    for (const coin of wanted) {
      if (this.#isOffered && !this.#streams.has(coin)) void this.#watch(coin, fromHeight);
    }
  }

  /** The reported spenders with their confirmations at a height of the chain. */
  spenders(height: number): Spender[] {
    return [...this.#spends].map(([coin, spend]) => spenderOf(coin, spend, height));
  }

  async #watch(coin: string, fromHeight: number): Promise<void> {
    const stream = new AbortController();
    this.#streams.set(coin, stream);
    const signal = AbortSignal.any([this.#signal, stream.signal]);
    const path = '/v2/chainnotifier/register/spends';
    const request = requestFor(coin, fromHeight);
    try {
      for await (const event of this.#rest.stream('POST', path, request, spendShape, signal)) {
        const spend = event.spend && spendOf(event.spend);
        if (spend) this.#spends.set(coin, spend);
        else this.#spends.delete(coin);
        this.#reported(spend ? spenderOf(coin, spend, spend.height) : null);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // The macaroon may not ask, or LND was built without it: only LND's list then shows what replaced a receipt.
      if (isApiError(error, 'forbidden') || isMissingAtLnd(error)) this.#isOffered = false;
    } finally {
      this.#forget(coin, stream);
    }
  }

  #forget(coin: string, stream: AbortController): void {
    if (this.#streams.get(coin) !== stream) return;
    this.#streams.delete(coin);
    this.#spends.delete(coin);
  }
}

function requestFor(coin: string, fromHeight: number) {
  const [txid = '', index] = coin.split(':');
  return {
    outpoint: { hash: base64.encode(hex.decode(txid).reverse()), index: Number(index) },
    script: base64.encode(ANY_SCRIPT),
    height_hint: Math.max(fromHeight, 1),
  };
}

function spenderOf(coin: string, { txid, height }: Spend, atHeight: number): Spender {
  return {
    tx_hash: txid,
    num_confirmations: Math.max(atHeight - height + 1, 0),
    label: '',
    time_stamp: 0,
    output_details: [],
    previous_outpoints: [{ outpoint: coin, is_our_output: false }],
  };
}

function spendOf(spend: { spending_tx_hash: string; spending_height: number }): Spend {
  return {
    txid: hex.encode(hex.decode(spend.spending_tx_hash).reverse()),
    height: spend.spending_height,
  };
}

/**
 * Returns what a watch of coins calls with each report. A spender is passed on at once as the replacement of the
 * receipts whose coin it spends, however long a look is running. Its further confirmations, and what a report that was
 * taken back means, are for the look that follows.
 */
export function spendReports(
  wallet: LndWallet,
  open: UpdatesOptions['open'],
  inbox: LndInbox,
): (spender: Spender | null) => void {
  const tell = async (spender: Spender): Promise<void> => {
    const receipts = (await open('onchain')).filter(
      ({ rail, direction }) => rail === 'onchain' && direction === 'inbound',
    );
    const nowMs = wallet.clock.now();
    inbox.add(receipts.flatMap((one) => replacedPayment(one, [spender], nowMs) ?? []));
  };
  return (spender) => {
    inbox.requestLook();
    if (spender) tell(spender).catch((error: unknown) => inbox.fail(error));
  };
}
