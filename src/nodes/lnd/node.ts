import type { ChannelPeer } from '../../model/channel.ts';
import { idOfIndex, type PaymentId } from '../../model/payment-index.ts';
import type { NodeTokens, Observation, WalletNode } from '../node.ts';
import { ifAllowed } from '../remote/calls/if-allowed.ts';
import { closeChannel, closeFeeBoundMsat } from './channels/channel-close.ts';
import { estimateOpenFee, openChannel } from './channels/channel-open.ts';
import { sendOutcome } from './follow/outcome.ts';
import { followWallet } from './follow/updates.ts';
import { createHoldInvoice, settleHoldInvoice } from './lightning/hold-invoices.ts';
import { cancelInvoice, createInvoice, lookUpInvoice } from './lightning/invoices.ts';
import { attemptNumber, payInvoice, paySpontaneous, trackedPayment } from './lightning/payments.ts';
import { estimateRoutingFeeMsat } from './lightning/route-fee.ts';
import { bumpFee, bumpFeeBoundMsat } from './onchain/bump.ts';
import {
  estimateFeeMsat,
  mostSendable,
  nextUnusedAddress,
  publishSend,
  releaseSend,
  signSend,
} from './onchain/onchain.ts';
import { listChannels, maxSendableMsat } from './reads/channels.ts';
import { nodeInfo } from './reads/info.ts';
import { lease } from './reads/leases.ts';
import { onchainPayment } from './reads/transactions.ts';
import type { LndHandle, LndOwned } from './reads/wallet.ts';
import { invoiceObservations, outboundObservation } from './words/translate.ts';
import type { LndPayment } from './words/wire.ts';

interface LndNodeParts extends LndHandle {
  readonly tokens: NodeTokens;
  readonly channelPeer: ChannelPeer | null;
}

/** Returns the node port of an LND wallet for one token. */
export function lndNode({ tokens, channelPeer, ...node }: LndNodeParts): WalletNode {
  const { rest, owner, wallet } = node;
  /** What LND has of the hashes that payments are being prepared for, while that is asked for. */
  const asked = new Map<string, Promise<LndPayment | null>>();
  return {
    descriptor: { kind: 'lnd', network: wallet.network, nodePk: wallet.nodePk },
    clock: wallet.clock,
    info: () => nodeInfo(node),
    createInvoice: (command) => createInvoice(node, command),
    cancelInvoice: (index) => cancelInvoice(node, index),
    repeatsSafely: true,
    newestAttempt(id) {
      // The wallet asks for this when it begins to prepare a payment.
      rest.prepareStream();
      wallet.sendable.readAhead(() => maxSendableMsat(owner));
      const hash = hashOfId(id);
      const present = trackedPayment(owner, hash).finally(() => asked.delete(hash));
      asked.set(hash, present);
      return present.then(attemptNumber);
    },
    payInvoice: (command) => payInvoice(node, command),
    sendOutcome: (question) => sendOutcome(node, question),
    estimateRoutingFeeMsat: (question) => estimateRoutingFeeMsat(node, question),
    payment: (index) => seenPayment(node, idOfIndex(index), { onlyCertain: true }),
    latestPayment: (id) =>
      seenPayment(node, id, { onlyCertain: false, present: asked.get(hashOfId(id)) }),
    updates: (options) => followWallet(node, options),
    spontaneous: { pay: (command) => paySpontaneous(node, command) },
    holdInvoices: {
      create: (command) => createHoldInvoice(node, command),
      settle: (index, preimage) => settleHoldInvoice(node, index, preimage),
    },
    onchain: {
      nextUnusedAddress: (type) => nextUnusedAddress(rest, type),
      sign: (command) => signSend(node, command),
      publish: (command, signed) => publishSend(node, command, signed),
      async renew({ locks }) {
        for (const lock of locks) await lease(owner, lock);
      },
      release: (signed) => releaseSend(node, signed),
      bumpFeeBoundMsat: (command) => bumpFeeBoundMsat(owner, command),
      bumpFee: (command) => bumpFee(owner, command),
      mostSendable: (command) => mostSendable(owner, command),
      estimateFeeMsat: (command) => estimateFeeMsat(owner, command),
    },
    channels: {
      listChannels: () => listChannels(rest),
      openFeeBoundMsat: (valueMsat) => estimateOpenFee(owner, valueMsat),
      openChannel: (command) =>
        wallet.locks.run('open_channel', () => openChannel(node, wallet, channelPeer, command)),
      closeFeeBoundMsat: (channelId, options) => closeFeeBoundMsat(owner, channelId, options),
      closeChannel: (channelId, options) => closeChannel(node, channelId, options),
    },
    tokens,
  };
}

/** The payment hash in the id of a Lightning payment. */
function hashOfId(id: PaymentId): string {
  return id.slice('ln_'.length);
}

/** The payment of an id, or null. Null also where the configured macaroon may not read it. */
async function seenPayment(
  { owner, wallet }: LndOwned,
  id: PaymentId,
  look: {
    readonly onlyCertain: boolean;
    readonly present?: Promise<LndPayment | null> | undefined;
  },
): Promise<Observation | null> {
  const nowMs = wallet.clock.now();
  if (!id.startsWith('ln_')) return ifAllowed(onchainPayment({ rest: owner, wallet }, id, look));
  const hash = hashOfId(id);
  const [sent, invoice] = await Promise.all([
    ifAllowed(look.present ?? trackedPayment(owner, hash)),
    ifAllowed(lookUpInvoice(owner, hash)),
  ]);
  if (sent) return outboundObservation(sent, nowMs);
  return (invoice && invoiceObservations(invoice, nowMs)[0]) ?? null;
}
