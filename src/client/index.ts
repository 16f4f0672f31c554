export { type Amount, fromMsat, type Sats, toMsat } from './amount.ts';
export { type ErrorKind, WalletSidecarError } from './error.ts';
export { ERROR_CODES, type ErrorData, type ErrorDetails } from './generated/errors.ts';
export type * from './generated/types.ts';
export { WalletSidecar } from './generated/wallet-sidecar.ts';
export type { EventsOptions, PaymentEvent } from './payment-events.ts';
export type {
  CallOptions,
  IgnoredFields,
  PayOptions,
  PostOptions,
  WalletSidecarOptions,
} from './transport.ts';
export {
  type VerificationProblem,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify-webhook.ts';
