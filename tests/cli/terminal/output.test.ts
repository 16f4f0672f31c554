import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { BARE_ENV, BINARY, runBinary } from '../../support/binary.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A file of Linux whose disk is always full. */
const FULL = '/dev/full';

/** Runs a line of the shell, in which `$SIDECAR` is the binary. */
function shell(line: string) {
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', line], {
    env: { ...BARE_ENV, SIDECAR: BINARY },
  });
  return { exitCode, stderr: stderr.toString() };
}

test.skipIf(!existsSync(FULL))('output that is lost is told, and ends the program with 1', () => {
  const { exitCode, stderr } = shell(`"$SIDECAR" seed new > ${FULL}`);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'The output could not be written (ENOSPC), so what was printed is lost.',
  );
  expect(stderr.match(/could not be written/g)).toHaveLength(1);
});

test('a reader that wants no more is no failure', () => {
  expect(shell('{ "$SIDECAR" --help; echo "ended with $?" >&2; } | true')).toMatchObject({
    stderr: 'ended with 0\n',
  });
});

test('events end when their reader has ended', async () => {
  const world = await openCliWorld();
  const { payments, updated_index: last } = await world.json('updates', '--limit', '1');
  expect(payments).toHaveLength(1);
  try {
    // The updates after the first one are there already.
    const { stderr } = await runBinary(['events', '--after', last], {
      env: { ...BARE_ENV, SERVICE_DATA_DIR: world.dataDir },
      before: ['sh', '-c', '{ "$@"; echo "ended with $?" >&2; } | true', 'sh'],
    });
    expect(stderr).toEndWith('\nended with 0\n');
  } finally {
    await world.close();
  }
});
