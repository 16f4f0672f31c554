import type { OddRows } from '../remote/odd-rows.ts';
import type { RemoteWallet } from '../remote/wallet.ts';
import type { LabelGrace } from './label-grace.ts';
import type { PublicChannels } from './public-channels.ts';

/** One LND wallet, shared by all handles to it. */
export interface LndWallet extends RemoteWallet {
  readonly labels: LabelGrace;
  readonly oddRows: OddRows;
  readonly publicChannels: PublicChannels;
  /** Payment hashes of sends whose outcome this process reads from the answer of the send call. */
  readonly sending: Set<string>;
}
