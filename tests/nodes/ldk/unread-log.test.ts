import { expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import { startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper, LDK_HELPER, startOutsideNode } from '../../support/ldk-network.ts';
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
  try {
    const node = await startOutsideNode(chain, { program });
    try {
      const info = await node.call<{ readonly node_pk: string }>('info', {}, shapes().info);
      expect(info.node_pk).toBe(node.nodePk);
    } finally {
      await node.close();
    }
  } finally {
    closeSync(pipe);
    chain.stop();
    removeFolder(folder);
  }
});
