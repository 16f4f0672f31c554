export { decodeBolt11 } from './decode.ts';
export { type Bolt11Fields, encodeBolt11 } from './encode.ts';
export { type Bolt11Invoice, DEFAULT_MIN_FINAL_CLTV, type RouteHint } from './invoice.ts';
export { amountMsatOf, descriptionOf, expiresAtMsOf, timestampOf } from './parts.ts';
