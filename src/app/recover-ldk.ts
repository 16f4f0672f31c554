import { loadConfig } from '../config/config.ts';
import { ConfigError, type Flags } from '../config/sources.ts';
import { elapsedMs, systemClock } from '../lib/clock.ts';
import { ownDataDir } from '../lib/files/data-dir.ts';
import { openLog } from '../lib/log.ts';
import { random } from '../lib/random.ts';
import type { ChannelPeer } from '../model/channel.ts';
import { recoverLdk as recover } from '../nodes/ldk/index.ts';

/** Between two looks at the chain; the blocks of a test network come when somebody asks for them. */
const EVERY_MS = 30_000;
const TEST_EVERY_MS = 1_000;
/** Without news for so long after all has arrived, it ends. */
const QUIET_MS = 180_000;
const TEST_QUIET_MS = 10_000;

/**
 * Brings back what the LDK node of the settings holds when its state is lost (docs/ldk.md). Nothing else may use the
 * data directory meanwhile. Throws {@link ConfigError}, ApiError or FileUnusable.
 */
export async function recoverLdk(
  flags: Flags,
  { peers, to }: { readonly peers: readonly ChannelPeer[]; readonly to: string | null },
  say: (sentence: string) => void,
): Promise<void> {
  const { ldk, dataDir, logLevel, logFormat } = loadConfig({
    // Money that may be lost already is not risked by a recovery.
    flags: { ...flags, node: 'ldk', 'experimental-mainnet': true },
    env: process.env,
    cwd: process.cwd(),
  });
  if (ldk === null) throw new ConfigError('This needs the settings of the LDK node.');
  const { rootSeed, network, chain, listen } = ldk;
  const isTest = network === 'regtest';
  const owned = ownDataDir(dataDir);
  try {
    await recover({
      ...{ rootSeed, network, chain, listen, dataDir, peers, to, say, elapsedMs, random },
      clock: systemClock,
      log: openLog({
        ...{ level: logLevel === 'info' ? 'warn' : logLevel, format: logFormat },
        write: (line) => console.error(line),
      }),
      everyMs: isTest ? TEST_EVERY_MS : EVERY_MS,
      quietMs: isTest ? TEST_QUIET_MS : QUIET_MS,
    });
  } finally {
    owned.release();
  }
}
