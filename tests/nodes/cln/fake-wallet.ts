import { randomBytes } from 'node:crypto';
import { keyedLock } from '../../../src/lib/keyed-lock.ts';
import { IssuerTurns } from '../../../src/nodes/cln/reads/issuer-turns.ts';
import { PayingNow } from '../../../src/nodes/cln/reads/paying-now.ts';
import { ClnRpc } from '../../../src/nodes/cln/reads/rpc.ts';
import type { ClnWallet } from '../../../src/nodes/cln/reads/wallet.ts';
import { Endings } from '../../../src/nodes/cln/words/endings.ts';
import { SendLabels } from '../../../src/nodes/cln/words/labels.ts';
import { LostParts } from '../../../src/nodes/cln/words/lost-parts.ts';
import { RecentAttempts } from '../../../src/nodes/cln/words/recent-attempts.ts';
import type { ClnInfo } from '../../../src/nodes/cln/words/wire.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { OddRows } from '../../../src/nodes/remote/calls/odd-rows.ts';
import { Recent } from '../../../src/nodes/remote/calls/recent.ts';
import { LocalChanges } from '../../../src/nodes/remote/place/local-changes.ts';
import { Sendable } from '../../../src/nodes/remote/place/sendable.ts';
import { memoryState } from '../../support/memory-state.ts';
import { type FakeCln, NODE_SECS } from './fake-cln.ts';

/** The fake node's wallet, and clocks that the test sets. */
export interface FakeWallet extends ClnWallet {
  readonly times: { nowMs: number; elapsedMs: number };
}

/** The labels of the fake node's wallet. */
export const LABELS = new SendLabels('aa'.repeat(16));

/** A wallet whose wall clock stands a minute after the node's. */
export function fakeWallet(): FakeWallet {
  const times = { nowMs: NODE_SECS * 1000 + 60_000, elapsedMs: 1000 };
  const clock = { now: () => times.nowMs };
  const rows = memoryState();
  const userPk = 'aa'.repeat(32);
  return {
    times,
    elapsedMs: () => times.elapsedMs,
    userPk,
    nodePk: `02${'bb'.repeat(32)}`,
    network: 'regtest',
    clock,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    locks: keyedLock(),
    local: new LocalChanges(),
    closed: new AbortController().signal,
    oddRows: new OddRows('Core Lightning', ['payment_hash']),
    rows,
    labels: LABELS,
    endings: new Endings(() => times.elapsedMs, clock, LABELS),
    lost: new LostParts(() => times.elapsedMs, rows, userPk),
    info: new Recent<ClnInfo>(() => times.elapsedMs),
    recent: new RecentAttempts(() => times.elapsedMs),
    paying: new PayingNow(() => times.elapsedMs),
    sendable: new Sendable(() => times.elapsedMs),
    issuers: new IssuerTurns(),
  };
}

/** The fake node by a rune that may do everything. */
export function rpcOf({ url, cert }: Pick<FakeCln, 'url' | 'cert'>): ClnRpc {
  return new ClnRpc({ endpoint: new RemoteEndpoint({ url, cert }), token: () => 'a-rune' });
}
