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
import { newestAttempt, payInvoice, paySpontaneous, trackedPayment } from './lightning/payments.ts';
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
import type { LndRest } from './reads/rest.ts';
import { onchainPayment } from './reads/transactions.ts';
import type { LndWallet } from './reads/wallet.ts';
import { invoiceObservations, outboundObservation } from './words/translate.ts';

interface LndNodeParts {
  readonly wallet: LndWallet;
  /** Uses the caller's own token, so that LND itself refuses what was not granted. */
  readonly rest: LndRest;
  /** Uses the owner's token, for look-ups that the connector needs and the caller's token does not allow. */
  readonly owner: LndRest;
  readonly tokens: NodeTokens;
  readonly channelPeer: ChannelPeer | null;
}

/** Returns the node port of an LND wallet for one token. */
export function lndNode({ wallet, rest, owner, tokens, channelPeer }: LndNodeParts): WalletNode {
  return {
    descriptor: { kind: 'lnd', network: wallet.network, nodePk: wallet.nodePk },
    clock: wallet.clock,
    info: () => nodeInfo(rest, owner, wallet),
    createInvoice: (command) => createInvoice(rest, owner, wallet, command),
    cancelInvoice: (index) => cancelInvoice(rest, owner, wallet, index),
    repeatsSafely: true,
    newestAttempt(id) {
      // The wallet asks for this when it begins to prepare a payment.
      rest.prepareStream();
      wallet.sendable.readAhead(() => maxSendableMsat(owner));
      return newestAttempt(owner, id);
    },
    payInvoice: (command) => payInvoice(rest, owner, wallet, command),
    sendOutcome: (question) => sendOutcome(owner, wallet, question),
    estimateRoutingFeeMsat: (question) => estimateRoutingFeeMsat(owner, wallet, question),
    payment: (index) => seenPayment(owner, wallet, idOfIndex(index), { onlyCertain: true }),
    latestPayment: (id) => seenPayment(owner, wallet, id, { onlyCertain: false }),
    updates: (options) => followWallet(rest, wallet, options),
    spontaneous: { pay: (command) => paySpontaneous(rest, owner, wallet, command) },
    holdInvoices: {
      create: (command) => createHoldInvoice(rest, owner, wallet, command),
      settle: (index, preimage) => settleHoldInvoice(rest, owner, index, preimage),
    },
    onchain: {
      nextUnusedAddress: (type) => nextUnusedAddress(rest, type),
      sign: (command) => signSend(rest, owner, wallet, command),
      publish: (command, signed) => publishSend(rest, owner, wallet, command, signed),
      async renew({ locks }) {
        for (const lock of locks) await lease(owner, lock);
      },
      release: (signed) => releaseSend(owner, wallet, signed),
      bumpFeeBoundMsat: (command) => bumpFeeBoundMsat(owner, command),
      bumpFee: (command) => bumpFee(owner, command),
      mostSendable: (command) => mostSendable(owner, command),
      estimateFeeMsat: (command) => estimateFeeMsat(owner, command),
    },
    channels: {
      listChannels: () => listChannels(rest),
      openFeeBoundMsat: (valueMsat) => estimateOpenFee(owner, valueMsat),
      openChannel: (command) =>
        wallet.locks.run('open_channel', () =>
          openChannel(rest, owner, wallet, channelPeer, command),
        ),
      closeFeeBoundMsat: (channelId, options) => closeFeeBoundMsat(owner, channelId, options),
      closeChannel: (channelId, options) => closeChannel(rest, owner, channelId, options),
    },
    tokens,
  };
}

/** The payment of an id, or null. Null also where the configured macaroon may not read it. */
async function seenPayment(
  owner: LndRest,
  wallet: LndWallet,
  id: PaymentId,
  certainty: { readonly onlyCertain: boolean },
): Promise<Observation | null> {
  const nowMs = wallet.clock.now();
  if (!id.startsWith('ln_')) return ifAllowed(onchainPayment(owner, wallet, id, certainty));
  const hash = id.slice('ln_'.length);
  const [sent, invoice] = await Promise.all([
    ifAllowed(trackedPayment(owner, hash)),
    ifAllowed(lookUpInvoice(owner, hash)),
  ]);
  if (sent) return outboundObservation(sent, nowMs);
  return (invoice && invoiceObservations(invoice, nowMs)[0]) ?? null;
}
