/**
 * Takes a payment in a web shop: creates an invoice for an order, waits for the webhook that says it is paid, and
 * delivers once. The sidecar must have been started with --webhook-url http://127.0.0.1:8080/hook and
 * --webhook-secret "$WEBHOOK_SECRET".
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type PaymentFinalized, verifyWebhook } from 'wallet-sidecar';
import { sandbox, wallet } from './sandbox.ts';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that the sidecar signs with.');
const order = `order-${crypto.randomUUID()}`;

// Order and number of the attempt are the idempotency key: however often one is repeated, it has one invoice.
const ask = (attempt: number) =>
  wallet.createInvoice(
    { amount: '1000', description: order, external_id: order },
    { idempotencyKey: `${order}-${attempt}` },
  );
let asked = await ask(1);
// The key of an invoice that has expired gives it again. A shop stores the number with the order, and looks up each
// of its indexes when a webhook comes: an earlier invoice may have been paid at the last moment.
if (asked.expires_at <= Date.now()) asked = await ask(2);
const { invoice, index } = asked;
console.log(`${order} is to be paid with ${invoice}`);

let deliver: (payment: PaymentFinalized) => void = () => undefined;
const paid = new Promise<PaymentFinalized>((resolve, reject) => {
  deliver = resolve;
  setTimeout(() => {
    reject(
      new Error('No webhook: see whether the sidecar has the address and secret of this shop.'),
    );
  }, 60_000).unref();
});
const server = createServer(async (request, response) => {
  try {
    const payment = await verifyWebhook(await bodyOf(request), request.headers, secret);
    // A webhook can come twice, and those of other payments come too: a shop looks its order up by the index, and
    // answers 200 when the payment is stored. A refund is outbound, and may carry the order's external_id too.
    const isIncoming = payment.type === 'payment.finalized' && payment.direction === 'inbound';
    if (isIncoming && payment.index === index) deliver(payment);
    response.writeHead(200).end();
  } catch {
    response.writeHead(400).end();
  }
});
// The shop listens before anybody can pay.
server.listen(Number(process.env.WEBHOOK_PORT ?? 8080), '127.0.0.1');
await once(server, 'listening');

// The customer, played by the sandbox's outside world.
await sandbox('pay', { payable: invoice });

const payment = await paid;
server.close();
if (payment.status !== 'completed') throw new Error(`${order} was not paid: ${payment.status_msg}`);
console.log(`${order} is paid and can be delivered: ${payment.index}`);

/** The raw body: what is signed are its very bytes. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > 262_144) throw new Error('Too long.');
  return buffer(request);
}
