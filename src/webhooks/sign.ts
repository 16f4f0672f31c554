import { Webhook } from 'standardwebhooks';

/** Makes the signing headers of a delivery attempt. */
export type SignDelivery = (
  id: string,
  atMs: number,
  body: string,
) => Readonly<Record<string, string>>;

/**
 * Signs as Standard Webhooks says (contract, Signing), with the standard's own library. `secret` is base64; without
 * one no header is added.
 */
export function deliverySigner(secret: string | null): SignDelivery {
  if (secret === null) return () => ({});
  const webhook = new Webhook(secret);
  return (id, atMs, body) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': webhook.sign(id, new Date(atMs), body),
  });
}
