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
import { nodeInfo } from './reads/info.ts';
import type { ClnRpc } from './reads/rpc.ts';
import { maxSendableMsat } from './reads/sendable.ts';
import type { ClnWallet } from './reads/wallet.ts';

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
