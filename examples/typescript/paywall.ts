/** Sells a report over HTTP: asks for payment with the status 402, and gives the report to who proves it, once. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sandbox, wallet, walletOf } from './sandbox.ts';

let sold = '';
const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(503).end());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
// The URL as buyers call it. Proofs are as good as money: where others reach it, it is https.
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;

async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const request = { method: asked.method ?? '', url: new URL(asked.url ?? '', url).href };
  const name = asked.headers.authorization ? 'authorization' : 'payment-signature';
  const proof = asked.headers[name];
  if (typeof proof === 'string') {
    // A buyer whose answer was lost repeats the proof, and is told the same again.
    const idempotencyKey = createHash('sha256').update(proof).digest('hex');
    const headers = { [name]: proof };
    const proven = await wallet.verifyPaywall({ headers, request }, { idempotencyKey });
    if (proven.valid) {
      sold = proven.index ?? '';
      addLines(response, proven.receipt);
      response.end('the report of today');
      return;
    }
  }
  // Each of these is an invoice: a shop bounds how many a stranger can have made.
  const paywall = { amount: '25', description: 'The report of today', request } as const;
  const { challenges } = await wallet.createPaywall(paywall);
  for (const lines of Object.values(challenges)) addLines(response, lines ?? []);
  response.writeHead(402).end('Payment required.');
}

function addLines(response: ServerResponse, lines: readonly string[]): void {
  for (const line of lines) {
    const at = line.indexOf(': ');
    response.appendHeader(line.slice(0, at), line.slice(at + 2));
  }
}

// The buyer, another wallet of the sandbox: it pays the invoice of L402, and the preimage is its proof.
const buyer = walletOf((await sandbox('wallets', {})).client_credentials);
const challenge = (await fetch(url)).headers.get('www-authenticate') ?? '';
const [, macaroon, invoice = ''] = /L402 macaroon="(.+?)", invoice="(.+?)"/.exec(challenge) ?? [];
const { preimage } = await buyer.payInvoice({ invoice }, { idempotencyKey: randomUUID() });
const bought = await fetch(url, { headers: { authorization: `L402 ${macaroon}:${preimage}` } });
console.log(`the buyer was given ${await bought.text()}`);
console.log(`the report is sold: ${sold}`);
server.close();
server.closeAllConnections();
