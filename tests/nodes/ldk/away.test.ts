import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { elapsedMs, systemClock } from '../../../src/lib/clock.ts';
import { openLog } from '../../../src/lib/log.ts';
import { openLdk } from '../../../src/nodes/ldk/index.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { CHAIN_SOURCES, startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { memoryState } from '../../support/memory-state.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const random = (bytes: number) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex'));

describe.skipIf(!hasLdkHelper())('an LDK node whose chain is out of reach at its start', () => {
  test.each([...CHAIN_SOURCES])(
    'says so in health, ends nothing, and opens when it is back: %s',
    async (source) => {
      const chain = startEsploraChain(source);
      chain.isAway = true;
      const dataDir = temporaryFolder('ldk-away');
      const rootSeed = random(32);
      let lines = '';
      const log = openLog({
        ...{ level: 'warn', format: 'text' },
        write: (line) => {
          lines += line;
        },
      });
      const connector = await openLdk({
        ...{ rootSeed, network: 'regtest', chain: chain.server, lsp: null, listen: null, dataDir },
        ...{ clock: systemClock, elapsedMs, log, random, channelPeer: null, state: memoryState() },
      });
      await until(() => connector.problems().length === 1, 'health says so');
      chain.isAway = false;
      const { node } = await connector.connectRoot(rootSeed);
      expect((await node.info()).numChannels).toBe(0);
      await until(() => connector.problems().length === 0, 'health says nothing');
      expect(lines).not.toContain('started again');
      await connector.close();
      chain.stop();
      removeFolder(dataDir);
    },
  );
});
