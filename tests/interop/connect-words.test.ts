import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { describeMixedNetwork } from './harness/index.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TLS_CERT = 'tls.cert in the folder of LND';
const CA = "ca.pem in the network's folder of Core Lightning";
const REST = 'the REST port, which is 8080 or the one of restlisten in lnd.conf';
const PORT = 'the port of clnrest-port in the configuration of Core Lightning';

describeMixedNetwork('what `connect` says of real nodes', (network) => {
  const folder = temporaryFolder('connect-words');
  afterAll(() => removeFolder(folder));

  const hostOf = (url: string) => new URL(url).host;
  /** What `connect lnd` says, for what differs from the node's own. */
  const lnd = async (change: { url?: string; cert?: string; macaroon?: string } = {}) => {
    const node = network().lnd;
    const { url = node.restUrl, cert = node.tlsCertPath, macaroon = node.macaroonPath } = change;
    return said(['lnd', '--url', url, '--cert-path', cert, '--macaroon-path', macaroon]);
  };
  /** {@link lnd} for `connect cln`. */
  const cln = async (change: { url?: string; cert?: string; rune?: string } = {}) => {
    const node = network().cln;
    const { url = node.url, cert = node.certPath, rune = node.runePath } = change;
    return said(['cln', '--url', url, '--cert-path', cert, '--rune-path', rune]);
  };
  const said = async (args: readonly string[]) => {
    const { stderr, exitCode } = await runBinary(['connect', ...args]);
    expect(exitCode).toBe(1);
    return stderr.trim();
  };
  const runeFile = async (restrictions: readonly (readonly string[])[]) => {
    const made = await network().cln.rpc<{ rune: string; unique_id: string }>('createrune', {
      restrictions,
    });
    const path = join(folder, `rune-${made.unique_id}`);
    writeFileSync(path, made.rune);
    return { path, id: Number(made.unique_id) };
  };

  test('a node of the other kind is told to be one', async () => {
    const { lnd: anLnd, cln: aCln } = network();
    expect(await lnd({ url: aCln.url, cert: aCln.certPath })).toEndWith(
      `The node at ${hostOf(aCln.url)} is a Core Lightning, not an LND: use \`connect cln\` with a rune of it.`,
    );
    expect(await cln({ url: anLnd.restUrl, cert: anLnd.tlsCertPath })).toEndWith(
      `The node at ${hostOf(anLnd.restUrl)} is an LND, not a Core Lightning: use \`connect lnd\` with a macaroon of it.`,
    );
  });

  test('the port for peers is told not to be the one', async () => {
    const closes = (address: string) =>
      `${address} closed the connection without an answer, as the port for peers does: check that the URL has`;
    const { lnd: anLnd, cln: aCln } = network();
    expect(await lnd({ url: `https://${anLnd.peerAddress}` })).toEndWith(
      `${closes(anLnd.peerAddress)} ${REST}.`,
    );
    expect(await cln({ url: `https://${aCln.peerAddress}` })).toEndWith(
      `${closes(aCln.peerAddress)} ${PORT}.`,
    );
  });

  test('a certificate of another node, or another one of the node, is told to be that', async () => {
    const { lnd: anLnd, cln: aCln } = network();
    const other = (title: string, url: string, file: string) =>
      `${title} at ${hostOf(url)} shows another certificate than the one that was given: give the one of this node, ${file}.`;
    expect(await lnd({ cert: aCln.certPath })).toEndWith(other('LND', anLnd.restUrl, TLS_CERT));
    for (const file of ['server.pem', 'client.pem']) {
      const cert = aCln.certPath.replace('ca.pem', file);
      expect(await cln({ cert })).toEndWith(other('Core Lightning', aCln.url, CA));
    }
  });

  test('a URL with the path of a command is told to need none', async () => {
    const { restUrl } = network().lnd;
    const { url } = network().cln;
    expect(await lnd({ url: `${restUrl}/v1` })).toEndWith(
      `LND does not answer at the path /v1: give --url as ${restUrl}.`,
    );
    expect(await cln({ url: `${url}/v1` })).toEndWith(
      `Core Lightning does not answer at the path /v1: give --url as ${url}.`,
    );
  });

  test('a rune that may not call getinfo, or has ended, is told so', async () => {
    const { path } = await runeFile([['method=xpay']]);
    expect(await cln({ rune: path })).toContain(
      'The rune does not allow getinfo, which the sidecar needs in every rune',
    );
    const ended = await runeFile([]);
    await network().cln.rpc('blacklistrune', { start: ended.id });
    for (const rune of [ended.path, (await runeFile([['time<100']])).path]) {
      expect(await cln({ rune })).toContain(
        'Core Lightning does not accept this rune: take one of this node, which has not expired or been deleted.',
      );
    }
  });
});
