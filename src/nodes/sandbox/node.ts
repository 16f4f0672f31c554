import type { NodeInfo } from '../../model/node-info.ts';
import type { ClientSessions, Guard } from '../client-sessions.ts';
import type { NodeDescriptor, WalletNode } from '../node.ts';
import { closeChannel, listChannels, liveChannels, openChannel, outboundMsat } from './channels.ts';
import { createClient, listClients, revokeClient, updateClient } from './clients.ts';
import type { ExpirySweeper } from './expiry.ts';
import { cancelInvoice, createInvoice } from './invoices.ts';
import { routingFeeMsat, startInvoicePayment, startOfferPayment } from './lightning.ts';
import { claimUsername, humanBitcoinAddress } from './names.ts';
import { createOffer, proofMaterial } from './offers.ts';
import {
  estimateOnchainFeeMsat,
  nextUnusedAddress,
  onchainBalances,
  payOnchain,
} from './onchain.ts';
import {
  findPayment,
  latestPayment,
  newestUpdate,
  updatedAfter,
  updatePayment,
} from './payments.ts';
import { walletUpdates } from './updates.ts';
import { walletKeys } from './wallets.ts';
import type { World } from './world.ts';

/** What every handle of the sandbox shares. */
export interface NodeParts {
  readonly world: World;
  readonly sessions: ClientSessions;
  readonly expiry: ExpirySweeper;
  readonly version: string;
  /** Hex SHA-256 of the running executable. */
  readonly measurement: () => Promise<string>;
  /** Domain of the names that this sandbox serves. */
  readonly addressDomain: string;
}

/** How the sandbox names itself. */
const SANDBOX: NodeDescriptor = { kind: 'sandbox', network: 'regtest' };

/** A wallet of the sandbox for one credential, whose permissions `guard` checks on each call. */
export function sandboxNode(parts: NodeParts, userPk: string, guard: Guard): WalletNode {
  const { world } = parts;
  /** Valid until anything in the world changes. */
  let known: { readonly changes: number; readonly info: NodeInfo } | null = null;
  return {
    descriptor: SANDBOX,
    clock: world.clock,
    async info() {
      guard('node_info');
      if (known?.changes === totalChanges(world)) return known.info;
      const measurement = await parts.measurement();
      const read = await world.answer(() => ({
        changes: totalChanges(world),
        info: nodeInfo(parts, userPk, measurement),
      }));
      known = read;
      return read.info;
    },
    async createInvoice(command) {
      guard('create_invoice');
      return world.answer(() => {
        const created = createInvoice(world, userPk, command);
        parts.expiry.sweep();
        return created;
      });
    },
    async cancelInvoice(index) {
      guard('cancel_payment', 'create_invoice');
      await world.answer(() => cancelInvoice(world, userPk, index));
    },
    async payInvoice(command) {
      guard('pay_invoice');
      return world.answer(() => startInvoicePayment(world, userPk, command));
    },
    async payment(index) {
      guard();
      return world.answer(() => findPayment(world, userPk, index));
    },
    async latestPayment(id) {
      guard();
      return world.answer(() => latestPayment(world, userPk, id));
    },
    updates(options) {
      guard();
      return walletUpdates(world, userPk, options);
    },
    history: {
      async tip() {
        guard();
        return world.answer(() => newestUpdate(world, userPk));
      },
      async updatedAfter(after, limit) {
        guard();
        return world.answer(() => updatedAfter(world, userPk, after, limit));
      },
    },
    notes: {
      async setPersonalNote(index, personalNote) {
        guard('update_personal_note');
        return world.answer(() => updatePayment(world, userPk, index, { personalNote }));
      },
    },
    offers: {
      async createOffer(command) {
        guard('create_offer');
        return world.answer(() => createOffer(world, { kind: 'wallet', userPk }, command));
      },
      async payOffer(command) {
        guard('pay_offer');
        return world.answer(() => startOfferPayment(world, userPk, command));
      },
    },
    onchain: {
      async nextUnusedAddress() {
        guard('get_next_unused_address');
        return world.answer(() => nextUnusedAddress(world, userPk));
      },
      async payOnchain(command) {
        guard('pay_onchain');
        return world.answer(() => payOnchain(world, userPk, command));
      },
      async estimateFeeMsat(command) {
        guard('pay_onchain');
        return world.answer(() => estimateOnchainFeeMsat(world, userPk, command));
      },
    },
    channels: {
      async listChannels() {
        guard('list_channels');
        return world.answer(() => listChannels(world, userPk));
      },
      async openChannel(command) {
        guard('open_channel');
        return world.answer(() => openChannel(world, userPk, command));
      },
      async closeChannel(channelId) {
        guard('close_channel');
        await world.answer(() => closeChannel(world, userPk, channelId));
      },
    },
    names: {
      async humanBitcoinAddress() {
        guard('get_human_bitcoin_address');
        return world.answer(() => humanBitcoinAddress(world, userPk, parts.addressDomain));
      },
      async claimUsername(username) {
        guard('update_human_bitcoin_address');
        return world.answer(() => {
          const { onchainBalanceMsat } = onchainBalances(world, userPk);
          const balanceMsat = lightning(world, userPk).balanceMsat + onchainBalanceMsat;
          const claim = { username, domain: parts.addressDomain, balanceMsat };
          return claimUsername(world, userPk, claim);
        });
      },
    },
    clients: {
      async listClients() {
        guard('list_clients', 'create_client', 'update_client');
        return world.answer(() => listClients(world, userPk));
      },
      async createClient(command) {
        guard('create_client');
        return world.answer(() => createClient(world, userPk, command));
      },
      async updateClient(clientPk, change) {
        guard('update_client');
        const client = await world.answer(() => updateClient(world, userPk, clientPk, change));
        parts.sessions.changed(client);
        return client;
      },
      async revokeClient(clientPk) {
        guard('revoke_client');
        const client = await world.answer(() => revokeClient(world, userPk, clientPk));
        parts.sessions.changed(client);
        return client;
      },
    },
    proofs: {
      async proofMaterial(index) {
        guard('create_payer_proof');
        return world.answer(() => proofMaterial(world, userPk, index));
      },
    },
  };
}

/** Rows changed since the world was opened. */
function totalChanges({ db }: World): number {
  return db.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0;
}

function nodeInfo(parts: NodeParts, userPk: string, measurement: string): NodeInfo {
  const { world } = parts;
  const { balanceMsat, maxSendableMsat, numChannels, numUsableChannels } = lightning(world, userPk);
  return {
    version: parts.version,
    measurement,
    userPk,
    nodePk: walletKeys(world, userPk).nodePk,
    lightningBalanceMsat: balanceMsat,
    lightningSendableMsat: withoutRoutingFee(maxSendableMsat),
    lightningMaxSendableMsat: maxSendableMsat,
    ...onchainBalances(world, userPk),
    numChannels,
    numUsableChannels,
  };
}

function lightning(world: World, userPk: string) {
  const channels = liveChannels(world, userPk);
  return {
    balanceMsat: channels.reduce((sum, channel) => sum + channel.oursMsat, 0n),
    maxSendableMsat: channels.reduce((sum, channel) => sum + outboundMsat(channel), 0n),
    numChannels: channels.length,
    numUsableChannels: channels.filter((channel) => channel.usable).length,
  };
}

/** The most that can be sent to the outside world: what is left when its own routing fee is paid. */
function withoutRoutingFee(maxSendableMsat: bigint): bigint {
  let amountMsat = maxSendableMsat;
  // The fee grows with the amount, so two rounds come to rest.
  for (let round = 0; round < 3; round++) amountMsat = maxSendableMsat - routingFeeMsat(amountMsat);
  return amountMsat > 0n ? amountMsat : 0n;
}
