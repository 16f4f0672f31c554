import { openConnections } from '../src/store/postgres/connections.ts';

/**
 * A bare server that answers with what the two look-ups of a payment and of a list find in PostgreSQL. It is a program
 * of its own, given what it needs as JSON in its first argument.
 */
const { port, url, connections, wallet, idx } = JSON.parse(process.argv[2] ?? '{}') as {
  port: number;
  url: string;
  connections: number;
  wallet: string;
  /** The index of the payment. */
  idx: string;
};

const { sql } = openConnections(url, connections);
const json = { headers: { 'content-type': 'application/json' } };

Bun.serve({
  port,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.url.endsWith('/payment')) {
      const [row] =
        await sql`SELECT json, status FROM wallet_sidecar.cache WHERE wallet = ${wallet} AND idx = ${idx}`;
      return new Response(row.json, json);
    }
    const rows: { json: string }[] =
      await sql`SELECT idx, json FROM wallet_sidecar.cache WHERE wallet = ${wallet} ORDER BY idx DESC LIMIT 101`;
    const payments = rows.slice(0, 100).map((row) => row.json);
    return new Response(`{"payments":[${payments.join(',')}],"next_index":null}`, json);
  },
});
