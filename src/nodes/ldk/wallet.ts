import type { Network } from '../../codecs/network.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyedLock } from '../../lib/keyed-lock.ts';
import type { ChannelPeer } from '../../model/channel.ts';
import type { ConnectorRows } from '../remote-kind.ts';
import type { Helper } from './helper.ts';

/** The one wallet of a helper, shared by all handles to it. */
export interface LdkWallet {
  readonly helper: Helper;
  /** Hex ed25519 public key that follows from the node's key. */
  readonly userPk: string;
  readonly nodePk: string;
  readonly network: Network;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly rows: ConnectorRows;
  readonly locks: KeyedLock;
  /** The peer of channels whose order names none. */
  readonly channelPeer: ChannelPeer | null;
  /** Whether an LSP opens channels for invoices that do not fit, and the most that it may take; null without one. */
  readonly lsp: { readonly maxFeeMsat: bigint } | null;
  /** The hashes of sends that this process is asking for. */
  readonly sending: Set<string>;
  /** Told how far the helper's state has come, so that an older copy of it is noticed. */
  readonly noteSeq: (seq: number) => Promise<void>;
}
