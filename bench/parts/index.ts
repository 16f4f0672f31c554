import { measureCln } from '../cln.ts';
import { measureFleet } from '../fleet.ts';
import { measureLdk } from '../ldk.ts';
import { measureLnd } from '../lnd.ts';
import { measureConsole } from './console.ts';
import { measureMixedLoad } from './endurance.ts';
import { measureGrowth } from './growth.ts';
import { measureLnbits } from './lnbits.ts';
import type { Part } from './part.ts';
import { measurePostgres } from './postgres.ts';
import { measureRequests } from './requests.ts';
import { measureSoak } from './soak.ts';
import { measureStreams } from './streams.ts';
import { measureLargeCache } from './sync.ts';
import { measureWallets } from './wallets.ts';
import { measureWrites } from './writes.ts';

/** Every part, in the order in which a whole run measures them. */
export const PARTS: readonly Part[] = [
  { name: 'requests', measure: measureRequests },
  { name: 'writes', measure: measureWrites },
  { name: 'streams', measure: measureStreams },
  { name: 'wallets', measure: measureWallets },
  { name: 'sync', measure: measureLargeCache },
  { name: 'endurance', measure: measureMixedLoad },
  { name: 'lnd', measure: ({ note }) => measureLnd(note) },
  { name: 'cln', measure: ({ note }) => measureCln(note) },
  { name: 'ldk', measure: measureLdk },
  { name: 'postgres', measure: measurePostgres },
  { name: 'fleet', measure: ({ note }) => measureFleet(note) },
  { name: 'lnbits', measure: measureLnbits },
  { name: 'console', measure: measureConsole },
  { name: 'growth', measure: measureGrowth },
  { name: 'soak', measure: measureSoak },
];
