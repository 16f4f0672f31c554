import type { OddRows } from '../../remote/calls/odd-rows.ts';
import type { Recent } from '../../remote/calls/recent.ts';
import type { RemoteWallet } from '../../remote/place/wallet.ts';
import type { LabelGrace } from '../words/label-grace.ts';
import type { CoinLocks } from './coin-locks.ts';
import type { LndRest } from './rest.ts';

/** One LND wallet, shared by all handles to it. */
export interface LndWallet extends RemoteWallet {
  readonly labels: LabelGrace;
  readonly coinLocks: CoinLocks;
  readonly oddRows: OddRows;
  /** Whether it has a public channel that is active. */
  readonly publicChannel: Recent<boolean>;
  /** Payment hashes of sends whose outcome this process reads from the answer of the send call. */
  readonly sending: Set<string>;
}

/** A wallet with calls by the owner's macaroon, for look-ups that the caller's macaroon does not allow. */
export interface LndOwned {
  readonly owner: LndRest;
  readonly wallet: LndWallet;
}

/** A wallet as one caller uses it. */
export interface LndHandle extends LndOwned {
  /** Makes calls by the caller's own macaroon, so that LND itself refuses what was not granted. */
  readonly rest: LndRest;
}
