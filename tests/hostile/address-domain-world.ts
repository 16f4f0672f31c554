import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePorts } from '../support/ports.ts';
import { type Body, type CallOptions, send } from '../support/requests.ts';
import { type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';

/** The name that the sidecar's wallet has. */
export const NAME = 'satoshi';
/** The path of a payer's first call. */
export const TERMS = `/.well-known/lnurlp/${NAME}`;
/** The path of a payer's second call. */
export const CALLBACK = `${TERMS}/callback`;

/** What a call through the proxy may say of the payer. */
export type ProxyCall = Parameters<ReverseProxy['call']>[2];

/** The answer {@link addressDomain}'s `ask` returns for an error of LNURL. */
export const problem = (reason: RegExp) => ({
  http: 200,
  status: 'ERROR',
  reason: expect.stringMatching(reason),
});

/**
 * Starts a sidecar behind a reverse proxy that terminates TLS for the address domain, as operators run it, for the tests
 * of one file.
 */
export function addressDomain() {
  const folder = temporaryFolder('address-domain');
  const dataDir = join(folder, 'data');
  const [port = 0, proxyPort = 0] = freePorts(2);
  const domain = `shop.example:${proxyPort}`;
  let sidecar: DevSidecar;
  let proxy: ReverseProxy;

  const owner = () => readFileSync(join(dataDir, 'cookie'), 'utf8');
  const call = (method: string, path: string, options: CallOptions = {}) =>
    send(`http://127.0.0.1:${port}`, method, path, { credentials: owner(), ...options });
  const ok = async (method: string, path: string, body?: unknown, credentials?: string) => {
    const answer = await call(method, path, { body, ...(credentials ? { credentials } : {}) });
    expect([path, answer.status, answer.body]).toEqual([path, 200, answer.body]);
    return answer.body;
  };
  const throughProxy = (method: string, path: string, options?: ProxyCall) =>
    proxy.call(method, path, options);

  let payers = 0;
  /** The address of another payer. */
  const payer = () => `198.51.100.${++payers % 250}`;
  /** Asks over the proxy, as a payer at an address of its own, unless the options name one. */
  const ask = async (path: string, options: ProxyCall = {}): Promise<Body> => {
    const answer = await throughProxy('GET', path, { client: payer(), ...options });
    expect(answer.headers['content-type']).toBe('application/json');
    return { ...JSON.parse(answer.text), http: answer.status };
  };

  beforeAll(async () => {
    sidecar = await startDevSidecar({
      dataDir,
      port,
      env: {
        SERVICE_ADDRESS_DOMAIN: domain,
        SERVICE_SIDECAR_URL: `https://${domain}`,
        SERVICE_REQUIRE_AUTH: 'true',
        SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    proxy = await startReverseProxy(proxyPort, port);
    await ok('PUT', '/v2/node/human_bitcoin_address', { username: NAME });
  });
  afterAll(async () => {
    await proxy?.stop();
    await sidecar?.stop();
    removeFolder(folder);
  });

  return { domain, proxyPort, owner, call, ok, throughProxy, payer, ask };
}
