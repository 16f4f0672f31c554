import type { OddRows } from '../remote/odd-rows.ts';
import type { Recent } from '../remote/recent.ts';
import type { RemoteWallet } from '../remote/wallet.ts';
import type { ConnectorRows } from '../remote-kind.ts';
import type { Endings } from './endings.ts';
import type { IssuerTurns } from './issuer-turns.ts';
import type { SendLabels } from './labels.ts';
import type { LostParts } from './lost-parts.ts';
import type { RecentAttempts } from './recent-attempts.ts';
import type { ClnInfo } from './wire.ts';

/** One wallet of a Core Lightning node, shared by all handles to it. */
export interface ClnWallet extends RemoteWallet {
  readonly oddRows: OddRows;
  /** What the node cannot keep, such as which address is the receiving one. */
  readonly rows: ConnectorRows;
  /** The labels of outgoing payments. */
  readonly labels: SendLabels;
  /** Which payments have failed for good. */
  readonly endings: Endings;
  /** Which parts of payments the node has lost. */
  readonly lost: LostParts;
  /** What the node says of itself. */
  readonly info: Recent<ClnInfo>;
  /** What was read of the attempts to pay an invoice that is about to be paid. */
  readonly recent: RecentAttempts;
  /** The turns of asking the issuers of offers for invoices. */
  readonly issuers: IssuerTurns;
}
