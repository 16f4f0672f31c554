import type { ChannelPeer } from '../../model/channel.ts';
import type { NodeTokens } from '../node-groups.ts';
import type { WalletNode } from '../wallet-node.ts';
import { nextUnusedAddress } from './addresses.ts';
import { bumpFee, bumpFeeBoundMsat } from './bump.ts';
import { closeChannel, closeFeeBoundMsat } from './channel-close.ts';
import { listChannels, openChannel, openFeeBoundMsat } from './channel-open.ts';
import { nodeInfo } from './info.ts';
import { cancelInvoice, createInvoice } from './invoices.ts';
import { latestPayment, payment } from './look-up.ts';
import { createOffer, fetchInvoice } from './offers.ts';
import {
  estimateFeeMsat,
  lockedOutpoints,
  mostSendable,
  publishSend,
  signSend,
} from './onchain.ts';
import { sendOutcome } from './outcome.ts';
import { payFetched, payInvoice } from './payments.ts';
import { createProof } from './proofs.ts';
import { extendReservations, releaseReservations } from './reservations.ts';
import { estimateRoutingFeeMsat } from './route-fee.ts';
import type { ClnRpc } from './rpc.ts';
import { maxSendableMsat } from './sendable.ts';
import { followWallet } from './updates.ts';
import type { ClnWallet } from './wallet.ts';

interface ClnNodeParts {
  readonly wallet: ClnWallet;
  /** Uses the caller's own rune, so that the node itself refuses what was not granted. */
  readonly rpc: ClnRpc;
  /** Uses the owner's rune, for look-ups that the connector needs and the caller's rune does not allow. */
  readonly owner: ClnRpc;
  readonly tokens: NodeTokens;
  readonly channelPeer: ChannelPeer | null;
}

/** The node port of a Core Lightning wallet for one rune. */
export function clnNode({ wallet, rpc, owner, tokens, channelPeer }: ClnNodeParts): WalletNode {
  return {
    descriptor: { kind: 'cln', network: wallet.network, nodePk: wallet.nodePk },
    clock: wallet.clock,
    // tests/interop/cln-one-payment.test.ts (docs/decisions.md 155)
    repeatsSafely: true,
    info: () => nodeInfo(rpc, wallet),
    createInvoice: (command) => createInvoice(rpc, owner, wallet, command),
    cancelInvoice: (index) => cancelInvoice(rpc, owner, wallet, index),
    async newestAttempt() {
      // The wallet asks for this when it begins to prepare a payment.
      rpc.prepareStream();
      wallet.sendable.readAhead(() => maxSendableMsat(owner));
      // The node keeps each payment's index with it.
      return null;
    },
    payInvoice: (command) => payInvoice(rpc, owner, wallet, command),
    sendOutcome: (question) => sendOutcome(owner, wallet, question),
    estimateRoutingFeeMsat: (question) => estimateRoutingFeeMsat(owner, wallet, question),
    payment: (index) => payment(owner, wallet, index),
    latestPayment: (id) => latestPayment(owner, wallet, id),
    updates: (options) => followWallet(rpc, wallet, options),
    offers: {
      createOffer: (command) => createOffer(rpc, command),
      fetchInvoice: (command, signal) => fetchInvoice(rpc, wallet, command, signal),
      payFetched: (command) => payFetched(rpc, owner, wallet, command),
    },
    proofs: { kind: 'whole', createProof: (command) => createProof(rpc, command) },
    onchain: {
      nextUnusedAddress: (type) => nextUnusedAddress(rpc, owner, wallet, type),
      sign: (command) => signSend(rpc, owner, wallet, command),
      publish: (command, signed) => publishSend(rpc, owner, wallet, command, signed),
      renew: (signed) => extendReservations(owner, lockedOutpoints(signed)),
      release: (signed) => releaseReservations(owner, lockedOutpoints(signed)),
      bumpFeeBoundMsat: (command) => bumpFeeBoundMsat(owner, wallet, command),
      bumpFee: (command) => bumpFee(rpc, owner, wallet, command),
      mostSendable: (command) => mostSendable(owner, wallet, command),
      estimateFeeMsat: (command) => estimateFeeMsat(owner, wallet, command),
    },
    channels: {
      listChannels: () => listChannels(rpc, wallet),
      openFeeBoundMsat: (valueMsat) => openFeeBoundMsat(owner, wallet, valueMsat),
      openChannel: (command) =>
        wallet.locks.run('open_channel', () =>
          openChannel(rpc, owner, wallet, channelPeer, command),
        ),
      closeFeeBoundMsat: (channelId, options) =>
        closeFeeBoundMsat(owner, wallet, channelId, options),
      closeChannel: (channelId, options) => closeChannel(rpc, owner, wallet, channelId, options),
    },
    tokens,
  };
}
