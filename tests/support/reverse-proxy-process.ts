import { request as forward } from 'node:http';
import { createServer } from 'node:https';

/**
 * A reverse proxy as operators run one, in a process of its own: it terminates TLS, leaves the Host header as it is, and
 * adds the payer's address at the end of X-Forwarded-For. Every client of a test is on this machine, so the header
 * X-Test-Client says which address to add. Prints a line once it listens.
 */
const { PROXY_PORT, TARGET_PORT, CERT, KEY } = process.env;
const server = createServer({ cert: CERT ?? '', key: KEY ?? '' }, (asked, answer) => {
  const { 'x-test-client': client, 'x-forwarded-for': before, ...headers } = asked.headers;
  const chain = [before, client ?? asked.socket.remoteAddress].filter(Boolean).join(', ');
  const passed = forward(
    {
      host: '127.0.0.1',
      port: Number(TARGET_PORT),
      method: asked.method ?? 'GET',
      path: asked.url ?? '/',
      headers: { ...headers, 'x-forwarded-for': chain },
    },
    (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    },
  );
  passed.on('error', () => answer.writeHead(502).end());
  asked.pipe(passed);
});
server.listen(Number(PROXY_PORT), '127.0.0.1', () => console.log('listening'));
