import { isApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import { idOfIndex, type PaymentId } from '../../model/payment-index.ts';
import type { Guard } from '../client-sessions.ts';
import type { NodeClients, WalletNode } from '../node.ts';
import { type ChannelPeer, closeChannel, listChannels, openChannel } from './channels.ts';
import { nodeInfo } from './info.ts';
import { cancelInvoice, createInvoice, lookUpInvoice } from './invoices.ts';
import { estimateFeeMsat, nextUnusedAddress, onchainPayment, payOnchain } from './onchain.ts';
import { payInvoice, trackedPayment } from './payments.ts';
import type { LndRest } from './rest.ts';
import { invoicePayment, outboundPayment } from './translate.ts';
import { followWallet } from './updates.ts';
import type { LndWallet } from './wallet.ts';

interface LndNodeParts {
  readonly wallet: LndWallet;
  /** The session's own macaroon; asked for at each call, since a change of the grant replaces it. */
  readonly rest: () => LndRest;
  /** By which the wallet's payments are followed. */
  readonly follower: () => Promise<LndRest>;
  readonly guard: Guard;
  readonly clients: NodeClients;
  readonly channelPeer: ChannelPeer | null;
}

/** A wallet of LND for one credential. LND checks its macaroon on every call; `guard` only speaks more clearly. */
export function lndNode(parts: LndNodeParts): WalletNode {
  const { wallet, rest, guard, clients } = parts;
  return {
    descriptor: { kind: 'lnd', network: wallet.network },
    clock: wallet.clock,
    async info() {
      guard('node_info');
      return nodeInfo(rest(), wallet);
    },
    async createInvoice(command) {
      guard('create_invoice');
      return createInvoice(rest(), command);
    },
    async cancelInvoice(index) {
      guard('cancel_payment', 'create_invoice');
      return cancelInvoice(rest(), wallet, index);
    },
    async payInvoice(command) {
      guard('pay_invoice');
      return payInvoice(rest(), wallet, command);
    },
    async payment(index) {
      guard();
      return paymentOf(rest(), wallet, idOfIndex(index));
    },
    async latestPayment(id) {
      guard();
      return paymentOf(rest(), wallet, id);
    },
    async *updates(options) {
      guard();
      yield* followWallet(await parts.follower(), wallet, options);
    },
    onchain: {
      async nextUnusedAddress() {
        guard('get_next_unused_address');
        return nextUnusedAddress(rest());
      },
      async payOnchain(command) {
        guard('pay_onchain');
        return payOnchain(rest(), wallet, command);
      },
      async estimateFeeMsat(command) {
        guard('pay_onchain');
        return estimateFeeMsat(rest(), command);
      },
    },
    channels: {
      async listChannels() {
        guard('list_channels');
        return listChannels(rest());
      },
      async openChannel(command) {
        guard('open_channel');
        return wallet.locks.run('open_channel', () =>
          openChannel(rest(), parts.channelPeer, command),
        );
      },
      async closeChannel(channelId) {
        guard('close_channel');
        return closeChannel(rest(), channelId);
      },
    },
    clients: {
      async listClients() {
        guard('list_clients', 'create_client', 'update_client');
        return clients.listClients();
      },
      async createClient(command) {
        guard('create_client');
        return clients.createClient(command);
      },
      async updateClient(clientPk, change) {
        guard('update_client');
        return clients.updateClient(clientPk, change);
      },
      async revokeClient(clientPk) {
        guard('revoke_client');
        return clients.revokeClient(clientPk);
      },
    },
  };
}

async function paymentOf(rest: LndRest, wallet: LndWallet, id: PaymentId): Promise<Payment | null> {
  const nowMs = wallet.clock.now();
  if (!id.startsWith('ln_')) return ifAllowed(onchainPayment(rest, wallet, id));
  const hash = id.slice('ln_'.length);
  const [sent, invoice] = await Promise.all([
    ifAllowed(trackedPayment(rest, hash)),
    ifAllowed(lookUpInvoice(rest, hash)),
  ]);
  if (sent) return outboundPayment(sent, nowMs);
  return invoice && invoicePayment(invoice, nowMs);
}

/** What a macaroon may not read, its holder does not see. */
async function ifAllowed<T>(read: Promise<T | null>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isApiError(error, 'forbidden')) return null;
    throw error;
  }
}
