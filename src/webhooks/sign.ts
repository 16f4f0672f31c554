import { Webhook } from 'standardwebhooks';

/** Makes the signature headers of a delivery attempt that starts at `atMs`. */
export type SignDelivery = (
  id: string,
  atMs: number,
  body: string,
) => Readonly<Record<string, string>>;

/**
 * Creates a signer by Standard Webhooks, with the standard's own library (docs/webhooks.md, Signatures). `secret` is
 * base64, with or without `whsec_`; without a secret no header is added.
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
