import type { ChannelPeer } from '../../../model/channel.ts';
import type { RemoteWallet } from '../../remote/place/wallet.ts';
import type { Helper } from './helper.ts';

/** How refusals name this kind. */
export const LDK = { kind: 'ldk', title: 'The LDK node' } as const;

type Shared = 'userPk' | 'nodePk' | 'network' | 'clock' | 'random' | 'rows' | 'locks';

/** The one wallet of a helper, shared by all handles to it. */
export interface LdkWallet extends Pick<RemoteWallet, Shared> {
  readonly helper: Helper;
  /** The peer of channels whose order names none. */
  readonly channelPeer: ChannelPeer | null;
  /** Whether an LSP opens channels for invoices that do not fit, and the most that it may take; null without one. */
  readonly lsp: { readonly maxFeeMsat: bigint } | null;
  /** The hashes of sends that this process is asking for. */
  readonly sending: Set<string>;
  /** Told how far the helper's state has come, so that an older copy of it is noticed. */
  readonly noteSeq: (seq: number) => Promise<void>;
}
