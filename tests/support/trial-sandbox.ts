import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/lib/clock.ts';
import { openSandbox, type Sandbox } from '../../src/nodes/sandbox/index.ts';

/** A sandbox for tests: it mines on request only, and none of its URLs is served. */
export function openTrialSandbox(path: string, clock: Clock): Sandbox {
  return openSandbox({
    path,
    clock,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    warn: () => undefined,
    version: '0.0.0',
    measurement: async () => 'ab'.repeat(32),
    blockSecs: 0,
    addressDomain: 'sandbox.example',
    publicUrl: 'http://127.0.0.1:1',
    buyLinkTemplate: 'https://buy.example/<invoice>',
    missedSeed: null,
  });
}
