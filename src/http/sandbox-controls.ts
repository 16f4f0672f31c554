import type { Payment } from '../model/payment.ts';

/** How an outside node treats a payment it receives. */
export const BEHAVIORS = ['settle', 'fail', 'hold'] as const;
export type Behavior = (typeof BEHAVIORS)[number];

/** What the sandbox's routes ask of the sandbox node (decisions section 9); amounts in millisatoshis. */
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
  /** Takes back an unconfirmed on-chain payment of the outside world; answers the txid that replaced it. */
  replaceOnchain(txid: string): Promise<{ readonly txid: string }>;
  /** Milliseconds since the epoch, after the move. */
  advanceClock(secs: number): Promise<{ readonly now: number }>;
}
