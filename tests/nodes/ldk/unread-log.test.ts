import { expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs } from '../../../src/lib/clock.ts';
import { Helper } from '../../../src/nodes/ldk/process/helper.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper, LDK_HELPER } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Makes a pipe that is full, and that nobody reads. Returns what is to be closed in the end. */
function fullPipe(path: string): number {
  Bun.spawnSync(['mkfifo', path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  for (const size of [4096, 1]) {
    try {
      for (;;) writeSync(pipe, 'x'.repeat(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
  return pipe;
}

test.skipIf(!hasLdkHelper())('a node whose log nobody reads opens and answers', async () => {
  const folder = temporaryFolder('ldk-unread-log');
  const chain = startEsploraChain();
  const log = join(folder, 'log');
  const pipe = fullPipe(log);
  const program = join(folder, 'helper');
  writeFileSync(program, `#!/bin/sh\nexec ${LDK_HELPER} 2> ${log}\n`, { mode: 0o700 });
  const helper = new Helper({
    program: async () => program,
    settings: {
      ...{ network: 'regtest', dir: join(folder, 'node'), seed: randomHex(64) },
      ...{ chain: chain.server, lsp: null, listen: [], sync_secs: 1 },
    },
    log: { debug: () => undefined, warn: () => undefined },
    ...{ elapsedMs, random: Math.random, seen: async () => null, keep: async () => undefined },
  });
  try {
    const { nodePk } = await helper.opened();
    expect((await helper.call('info', {}, shapes().info)).node_pk).toBe(nodePk);
  } finally {
    await helper.close();
    closeSync(pipe);
    chain.stop();
    removeFolder(folder);
  }
});
