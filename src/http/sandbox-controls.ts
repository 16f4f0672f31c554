import type { Payment } from '../model/payment.ts';
import type { Price } from '../model/prices/price.ts';

/** What an outside node does with a payment that it receives. */
export const BEHAVIORS = ['settle', 'fail', 'hold'] as const;
type Behavior = (typeof BEHAVIORS)[number];

/** The sandbox's operations for the sandbox routes, amounts in millisatoshis (docs/decisions.md 78). */
export interface SandboxControls {
  createWallet(): Promise<{
    readonly rootSeed: string;
    readonly userPk: string;
    readonly nodePk: string;
  }>;
  fund(
    userPk: string,
    options: { readonly amountMsat: bigint; readonly rail: 'lightning' | 'onchain' },
  ): Promise<Payment>;
  mine(count: number): Promise<{ readonly height: number }>;
  pay(options: {
    readonly payable: string;
    readonly amountMsat: bigint | null;
    readonly message: string | null;
    readonly payerName: string | null;
  }): Promise<{ readonly status: string }>;
  createInvoice(options: {
    readonly amountMsat: bigint | null;
    readonly description: string | null;
    readonly expirationSecs: number;
    readonly behavior: Behavior;
  }): Promise<{ readonly invoice: string; readonly paymentHash: string }>;
  createOffer(options: {
    readonly minAmountMsat: bigint | null;
    readonly description: string | null;
    readonly price: Price | undefined;
    readonly behavior: Behavior;
  }): Promise<{ readonly offer: string }>;
  decideHold(options: { readonly paymentHash: string; readonly settle: boolean }): Promise<void>;
  createLnurl(options: {
    readonly tag: 'payRequest' | 'withdrawRequest';
    readonly minMsat: bigint;
    readonly maxMsat: bigint;
    readonly commentLength: number;
    readonly description: string | null;
  }): Promise<{ readonly lnurl: string; readonly url: string }>;
  /** Replaces an unconfirmed payment of the outside world. Resolves to the txid of the replacement. */
  replaceOnchain(txid: string): Promise<{ readonly txid: string }>;
  /** Moves the sandbox's clock forward. `now` is the time after that, in milliseconds since the epoch. */
  advanceClock(secs: number): Promise<{ readonly now: number }>;
}

type LnurlJson = Readonly<Record<string, unknown>>;

/** The LNURL services of the sandbox's outside world. They exist while the sandbox node is in use. */
export interface LnurlServices {
  /** Returns the first answer of a pay service as a Lightning Address (LUD-16); null when there is none. */
  lightningAddress(name: string): LnurlJson | null;
  /** Returns the first answer of a service (LUD-03, LUD-06). */
  lnurlFirst(name: string): LnurlJson;
  lnurlSecond(name: string, query: Readonly<Record<string, string | undefined>>): LnurlJson;
}
