import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs, systemClock } from '../../../src/lib/clock.ts';
import { openLog } from '../../../src/lib/log.ts';
import { openLdk } from '../../../src/nodes/ldk/index.ts';
import { invoiceCommand, randomHex } from '../../contracts/node/steps.ts';
import { startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { memoryState } from '../../support/memory-state.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const random = (bytes: number) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex'));

describe.skipIf(!hasLdkHelper())('the state of the LDK node', () => {
  test('that is older than what was seen of it is refused, and health says so', async () => {
    const chain = startEsploraChain();
    const dataDir = temporaryFolder('ldk-old');
    const rootSeed = random(32);
    const state = memoryState();
    const open = () =>
      openLdk({
        ...{ rootSeed, network: 'regtest', chain: chain.server, lsp: null, listen: null },
        ...{ dataDir, state, clock: systemClock, elapsedMs, log, random, channelPeer: null },
      });
    const node = join(dataDir, 'ldk');
    const copy = join(dataDir, 'copy');

    const first = await open();
    await first.connectRoot(rootSeed);
    await first.close();
    cpSync(node, copy, { recursive: true });
    const second = await open();
    const { node: wallet } = await second.connectRoot(rootSeed);
    await wallet.createInvoice(invoiceCommand(wallet));
    await second.close();

    rmSync(node, { recursive: true });
    cpSync(copy, node, { recursive: true });
    const third = await open();
    const error = await third.connectRoot(rootSeed).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ kind: 'refused', message: expect.stringMatching(/older|copy/) });
    expect(third.problems()).toEqual([(error as Error).message]);
    await third.close();

    chain.stop();
    removeFolder(dataDir);
  });
});
