import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { FeePolicy } from '../model/fee-cap.ts';
import type { Store } from '../store/ports.ts';
import type { Names } from '../wallet/names/names.ts';
import type { Wallets } from '../wallet/open/wallets.ts';
import type { PaymentServices } from '../wallet/strings/payment-services.ts';
import type { ConsoleDoor } from './console/door.ts';
import type { Nwc } from './nwc.ts';
import type { LnurlServices, SandboxControls } from './sandbox-controls.ts';
import type { WebhookSender } from './webhook-sender.ts';

interface Health {
  /** `ok`, or sentences that say what is missing. */
  readonly status: string;
  /** What the budgets of clients do not bound; left out where there is nothing to say (docs/decisions.md 180). */
  readonly budgets?: string;
}

/** The parts of the running program that handlers use. `src/app` puts them together. */
export interface Parts {
  readonly wallets: Wallets;
  readonly store: Store;
  readonly fees: FeePolicy;
  readonly services: PaymentServices;
  /** Returns the payment app's launch link for an invoice (docs/decisions.md 32). */
  readonly buyLink: (invoice: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  /** The commit that this program was built from. */
  readonly commit: string;
  /** Says what is missing. It never waits (docs/decisions.md 7). */
  readonly health: () => Health;
  /** The base URL of this sidecar, without a slash at the end. */
  readonly sidecarUrl: string;
  readonly webhooks: WebhookSender;
  readonly console: ConsoleDoor;
  /** Present while the sandbox node is in use, otherwise null. */
  readonly sandbox: SandboxControls | null;
  readonly lnurlServices: LnurlServices | null;
  /** The names of wallets in this sidecar's domain; null where none are served (docs/decisions.md 100). */
  readonly names: Names | null;
  readonly nwc: Nwc;
}
