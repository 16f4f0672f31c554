import type { OddRows } from '../../remote/calls/odd-rows.ts';
import type { Recent } from '../../remote/calls/recent.ts';
import type { RemoteWallet } from '../../remote/place/wallet.ts';
import type { Endings } from '../words/endings.ts';
import type { SendLabels } from '../words/labels.ts';
import type { LostParts } from '../words/lost-parts.ts';
import type { RecentAttempts } from '../words/recent-attempts.ts';
import type { ClnInfo } from '../words/wire.ts';
import type { IssuerTurns } from './issuer-turns.ts';
import type { PayingNow } from './paying-now.ts';
import type { ClnRpc } from './rpc.ts';

/** One wallet of a Core Lightning node, shared by all handles to it. */
export interface ClnWallet extends RemoteWallet {
  readonly oddRows: OddRows;
  readonly labels: SendLabels;
  /** Which payments have failed for good. */
  readonly endings: Endings;
  readonly lost: LostParts;
  readonly info: Recent<ClnInfo>;
  /** Whether this process is paying. */
  readonly paying: PayingNow;
  /** What was read of the attempts to pay an invoice that is about to be paid. */
  readonly recent: RecentAttempts;
  /** The turns of asking the issuers of offers for invoices. */
  readonly issuers: IssuerTurns;
}

/** A wallet with calls by the owner's rune, for look-ups that the caller's rune does not allow. */
export interface ClnOwned {
  readonly owner: ClnRpc;
  readonly wallet: ClnWallet;
}

/** A wallet as one caller uses it. */
export interface ClnHandle extends ClnOwned {
  /** Makes calls by the caller's own rune, so that the node itself refuses what was not granted. */
  readonly rpc: ClnRpc;
}
