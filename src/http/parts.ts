import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { Store } from '../store/ports.ts';
import type { FeePolicy } from '../wallet/pay/fee-cap.ts';
import type { PaymentServices } from '../wallet/payment-services.ts';
import type { Wallets } from '../wallet/wallets.ts';
import type { LnurlServices } from './lnurl-services.ts';
import type { SandboxControls } from './sandbox-controls.ts';

/** The running parts that handlers work with; put together by the composition root. */
export interface Parts {
  readonly wallets: Wallets;
  readonly store: Store;
  readonly fees: FeePolicy;
  readonly services: PaymentServices;
  /** The purchase app's launch link for an invoice (decisions section 12). */
  readonly buyLink: (invoice: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Version of this program. */
  readonly version: string;
  /** `ok`, or a sentence that says what is missing; never waits. */
  readonly health: () => string;
  /** Base URL of this sidecar, without a slash at the end. */
  readonly sidecarUrl: string;
  /** Tells the dispatcher that deliveries are due. */
  readonly wakeDispatcher: () => void;
  /** Present while the sandbox node is in use. */
  readonly sandbox: SandboxControls | null;
  readonly lnurlServices: LnurlServices | null;
}
