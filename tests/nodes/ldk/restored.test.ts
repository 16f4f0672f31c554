import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../../contracts/node/steps.ts';
import { runBinary, startBinary } from '../../support/binary.ts';
import { type EsploraChain, startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { sendOk } from '../../support/requests.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe.skipIf(!hasLdkHelper())('data of the LDK node that come back from a copy', () => {
  const folder = temporaryFolder('ldk-restored');
  const at = (...names: string[]) => join(folder, ...names);
  let chain: EsploraChain;
  beforeAll(() => {
    chain = startEsploraChain();
    writeFileSync(at('seed'), randomHex(32), { mode: 0o600 });
  });
  afterAll(() => {
    chain.stop();
    removeFolder(folder);
  });

  /** Runs a sidecar on the data directory until `use` is over. */
  async function withNode<T>(
    dataDir: string,
    marker: string,
    use: (url: string) => Promise<T>,
  ): Promise<T> {
    const child = startBinary([
      ...['serve', '--data-dir', at(dataDir), '--listen-addr', '127.0.0.1:0'],
      ...['--marker-path', at(marker), '--root-seed-path', at('seed')],
      ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', chain.url],
    ]);
    const url = await child.ready();
    try {
      return await use(url);
    } finally {
      expect(await child.stop()).toBe(0);
    }
  }
  const status = async (url: string) => (await sendOk(url, 'GET', '/v2/health')).status as string;
  const invoice = (url: string) =>
    until(
      () =>
        sendOk(url, 'POST', '/v2/node/create_invoice', { body: { amount: '5' } }).catch(() => null),
      'the node makes an invoice',
    );
  const refusal = (url: string) =>
    until(async () => {
      const said = await status(url);
      return said.includes('state.sqlite') && said;
    }, 'health tells of the state');

  test('are refused with the whole data directory, which is older than the mark outside of it', async () => {
    await withNode('whole', 'marker-1', invoice);
    cpSync(at('whole'), at('copy'), { recursive: true });
    await withNode('whole', 'marker-1', invoice);
    rmSync(at('whole'), { recursive: true });
    renameSync(at('copy'), at('whole'));
    expect(await withNode('whole', 'marker-1', refusal)).toContain(
      'is older than what was seen of it',
    );
  });

  test('are in no backup, and a restored wallet goes on with the state that was used last', async () => {
    await withNode('used', 'marker-2', invoice);
    const made = await runBinary(['backup', at('backup'), '--data-dir', at('used')]);
    expect(made.stdout).toContain(`peers.json of each network in ${at('used', 'ldk')}, by which`);
    expect(made.stdout).toContain(
      'no copy of the rest of that folder, the channels of the LDK node',
    );
    expect(readdirSync(at('backup')).toSorted()).toEqual(['backup.json', 'sidecar.sqlite']);
    await withNode('used', 'marker-2', invoice);
    const back = ['--data-dir', at('back'), '--marker-path', at('marker-2')];
    const restored = await runBinary(['restore', at('backup'), ...back]);
    expect(restored.stdout).toContain(
      `move the folder ldk of the data directory that was used last into ${at('back')}`,
    );
    expect(await withNode('back', 'marker-2', refusal)).toContain('is missing');
    expect(existsSync(at('back', 'ldk', 'regtest', 'state.sqlite'))).toBe(false);
    rmSync(at('back', 'ldk'), { recursive: true, force: true });
    renameSync(at('used', 'ldk'), at('back', 'ldk'));
    await withNode('back', 'marker-2', invoice);
  });
});
