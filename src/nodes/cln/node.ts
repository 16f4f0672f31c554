import type { ChannelPeer } from '../../model/channel.ts';
import type { NodeTokens } from '../node-groups.ts';
import type { WalletNode } from '../wallet-node.ts';
import { closeChannel, closeFeeBoundMsat } from './channels/channel-close.ts';
import { listChannels, openChannel, openFeeBoundMsat } from './channels/channel-open.ts';
import { latestPayment, payment } from './follow/look-up.ts';
import { sendOutcome } from './follow/outcome.ts';
import { followWallet } from './follow/updates.ts';
import { cancelInvoice, createInvoice } from './lightning/invoices.ts';
import { createOffer, fetchInvoice } from './lightning/offers.ts';
import { payFetched, payInvoice } from './lightning/payments.ts';
import { createProof } from './lightning/proofs.ts';
import { estimateRoutingFeeMsat } from './lightning/route-fee.ts';
import { nextUnusedAddress } from './onchain/addresses.ts';
import { bumpFee, bumpFeeBoundMsat } from './onchain/bump.ts';
import {
  estimateFeeMsat,
  lockedOutpoints,
  mostSendable,
  publishSend,
  signSend,
} from './onchain/onchain.ts';
import { extendReservations, releaseReservations } from './onchain/reservations.ts';
import { maxSendableMsat } from './reads/channels.ts';
import { nodeInfo } from './reads/info.ts';
import type { ClnHandle } from './reads/wallet.ts';

interface ClnNodeParts extends ClnHandle {
  readonly tokens: NodeTokens;
  readonly channelPeer: ChannelPeer | null;
}

/** The node port of a Core Lightning wallet for one rune. */
export function clnNode({ tokens, channelPeer, ...node }: ClnNodeParts): WalletNode {
  const { rpc, owner, wallet } = node;
  return {
    descriptor: { kind: 'cln', network: wallet.network, nodePk: wallet.nodePk },
    clock: wallet.clock,
    // tests/interop/cln-one-payment.test.ts (docs/decisions.md 155)
    repeatsSafely: true,
    info: () => nodeInfo(node),
    createInvoice: (command) => createInvoice(node, command),
    cancelInvoice: (index) => cancelInvoice(node, index),
    async newestAttempt() {
      // The wallet asks for this when it begins to prepare a payment.
      wallet.paying.prepare();
      rpc.prepareStream();
      wallet.sendable.readAhead(() => maxSendableMsat(owner));
      // The node keeps each payment's index with it.
      return null;
    },
    payInvoice: (command) => payInvoice(node, command),
    sendOutcome: (question) => sendOutcome(node, question),
    estimateRoutingFeeMsat: (question) => estimateRoutingFeeMsat(node, question),
    payment: (index) => payment(node, index),
    latestPayment: (id) => latestPayment(node, id),
    updates: (options) => followWallet(node, options),
    offers: {
      kind: 'fetched',
      createOffer: (command) => createOffer(rpc, command),
      fetchInvoice: (command, signal) => fetchInvoice(rpc, wallet, command, signal),
      payFetched: (command) => payFetched(node, command),
    },
    proofs: { kind: 'whole', createProof: (command) => createProof(rpc, command) },
    onchain: {
      nextUnusedAddress: (type) => nextUnusedAddress(node, type),
      sign: (command) => signSend(node, command),
      publish: (command, signed) => publishSend(node, command, signed),
      renew: (signed) => extendReservations(owner, lockedOutpoints(signed)),
      release: (signed) => releaseReservations(owner, lockedOutpoints(signed)),
      bumpFeeBoundMsat: (command) => bumpFeeBoundMsat(node, command),
      bumpFee: (command) => bumpFee(node, command),
      mostSendable: (command) => mostSendable(node, command),
      estimateFeeMsat: (command) => estimateFeeMsat(node, command),
    },
    channels: {
      listChannels: () => listChannels(node),
      openFeeBoundMsat: (valueMsat) => openFeeBoundMsat(node, valueMsat),
      openChannel: (command) =>
        wallet.locks.run('open_channel', () => openChannel(node, channelPeer, command)),
      closeFeeBoundMsat: (channelId, options) => closeFeeBoundMsat(node, channelId, options),
      closeChannel: (channelId, options) => closeChannel(node, channelId, options),
    },
    tokens,
  };
}
