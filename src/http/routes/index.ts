import type { Route } from '../route.ts';
import { addressRoutes } from './addresses.ts';
import { analyzeRoutes } from './analyze.ts';
import { approvalRoutes } from './approvals.ts';
import { bookRoutes } from './books.ts';
import { channelRoutes } from './channels.ts';
import { clientRoutes } from './clients.ts';
import { eventRoutes } from './events.ts';
import { healthRoutes } from './health.ts';
import { invoiceRoutes } from './invoices.ts';
import { lnurlServiceRoutes } from './lnurl-services.ts';
import { lostStoreRoutes } from './lost-store.ts';
import { nameRoutes } from './names.ts';
import { nodeRoutes } from './node.ts';
import { paymentRoutes } from './payments.ts';
import { paywallRoutes } from './paywalls.ts';
import { proofRoutes } from './proofs.ts';
import { receiveRoutes } from './receive.ts';
import { sandboxRoutes } from './sandbox/sandbox.ts';
import { sandboxServiceRoutes } from './sandbox/sandbox-services.ts';
import { fetchRoutes } from './send/fetch.ts';
import { sendRoutes } from './send/send.ts';
import { sendOnchainRoutes } from './send/send-onchain.ts';
import { spontaneousRoutes } from './send/spontaneous.ts';
import { waitRoutes } from './waits.ts';
import { webhookEndpointRoutes } from './webhooks/webhook-endpoints.ts';
import { webhookRoutes } from './webhooks/webhooks.ts';

/** Every endpoint of the product, in the order of the documentation. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...nodeRoutes,
  ...invoiceRoutes,
  ...receiveRoutes,
  ...paywallRoutes,
  ...analyzeRoutes,
  ...sendRoutes,
  ...sendOnchainRoutes,
  ...spontaneousRoutes,
  ...fetchRoutes,
  ...approvalRoutes,
  ...paymentRoutes,
  ...bookRoutes,
  ...waitRoutes,
  ...eventRoutes,
  ...addressRoutes,
  ...channelRoutes,
  ...proofRoutes,
  ...clientRoutes,
  ...lostStoreRoutes,
  ...webhookEndpointRoutes,
  ...webhookRoutes,
];

/** The endpoints that exist where names are served: on the sandbox, and with --address-domain. */
export const NAME_ROUTES: readonly Route[] = nameRoutes;

/** The endpoints that exist while the sandbox node is in use, those of names among them. */
export const SANDBOX_ROUTES: readonly Route[] = [
  ...sandboxRoutes,
  ...sandboxServiceRoutes,
  ...lnurlServiceRoutes,
  ...NAME_ROUTES,
];
