import { hex } from '@scure/base';
import type { Permission } from '../../model/clients/permissions.ts';
import type { NodeInfo } from '../../model/node-info.ts';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { NodeDescriptor, Observation, WalletNode } from '../node.ts';
import { nodeInfo } from './info.ts';
import {
  closeChannel,
  closeFeeBoundMsat,
  openChannel,
  openFeeBoundMsat,
} from './lightning/channel-orders.ts';
import { listChannels } from './lightning/channels.ts';
import { cancelInvoice, settleHeld } from './lightning/held.ts';
import { createHoldInvoice, createInvoice } from './lightning/invoices.ts';
import {
  startFetchedPayment,
  startInvoicePayment,
  startSpontaneousPayment,
} from './lightning/payments.ts';
import { estimateRoutingFeeMsat } from './lightning/routing-fee.ts';
import { observed, reportSend, sendOutcome } from './lightning/sends.ts';
import { createOffer, fetchInvoiceOf, proofMaterial } from './offers/offers.ts';
import { bumpFee, bumpFeeBoundMsat } from './onchain/bump.ts';
import { nextUnusedAddress } from './onchain/funds.ts';
import {
  estimateOnchainFeeMsat,
  mostSendable,
  publishOnchain,
  releaseSigned,
  renewSigned,
  signOnchain,
} from './onchain/send.ts';
import type { ExpirySweeper } from './world/expiry.ts';
import {
  findPayment,
  latestPayment,
  newestUpdate,
  updatedAfter,
  updatePayment,
} from './world/payments.ts';
import type { Access, Tokens } from './world/tokens.ts';
import { walletUpdates } from './world/updates.ts';
import { walletKeys } from './world/wallets.ts';
import type { World } from './world/world.ts';

/** State shared by all handles of the sandbox. */
export interface NodeParts {
  readonly world: World;
  readonly tokens: Tokens;
  readonly expiry: ExpirySweeper;
  readonly version: string;
  /** Hex SHA-256 of the running executable. */
  readonly measurement: () => Promise<string>;
}

/** How the sandbox names itself. */
const SANDBOX = { kind: 'sandbox', network: 'regtest' } as const satisfies Partial<NodeDescriptor>;

/** Returns the node port of a sandbox wallet for one token. `access` checks the token's permissions at each call. */
export function sandboxNode(parts: NodeParts, userPk: string, access: Access): WalletNode {
  const { world, tokens } = parts;
  const send = (
    { index }: { readonly index: PaymentIndex },
    permission: Permission,
    start: () => Payment,
  ) =>
    reportSend(world, {
      userPk,
      index,
      work() {
        access.require(permission);
        return start();
      },
    });
  /** The info that was last read; valid until anything in the world changes. */
  let known: { readonly changes: number; readonly info: NodeInfo } | null = null;
  return {
    descriptor: {
      ...SANDBOX,
      get nodePk() {
        return walletKeys(world, userPk).nodePk;
      },
    },
    clock: world.clock,
    async info() {
      access.require('node_info');
      if (known?.changes === totalChanges(world)) return known.info;
      const measurement = await parts.measurement();
      const read = await world.durably(() => ({
        changes: totalChanges(world),
        info: nodeInfo(world, userPk, { version: parts.version, measurement }),
      }));
      known = read;
      return read.info;
    },
    async createInvoice(command) {
      access.require('create_invoice');
      return world.durably(() => {
        const created = createInvoice(world, userPk, command);
        parts.expiry.sweep();
        return created;
      });
    },
    async cancelInvoice(index) {
      access.require('cancel_payment', 'create_invoice');
      await world.durably(() => cancelInvoice(world, userPk, index));
    },
    async newestAttempt() {
      access.require();
      return null;
    },
    async payInvoice(command) {
      return send(command, 'pay_invoice', () => startInvoicePayment(world, userPk, command));
    },
    async sendOutcome(question) {
      access.require();
      return world.durably(() => sendOutcome(world, userPk, question));
    },
    async estimateRoutingFeeMsat(question) {
      access.require();
      return world.durably(() => estimateRoutingFeeMsat(world, userPk, question));
    },
    async payment(index) {
      access.require();
      return observedOrNull(await world.durably(() => findPayment(world, userPk, index)));
    },
    async latestPayment(id) {
      access.require();
      return observedOrNull(await world.durably(() => latestPayment(world, userPk, id)));
    },
    updates(options) {
      access.require();
      return walletUpdates(world, userPk, { ...options, check: () => access.require() });
    },
    history: {
      async tip() {
        access.require();
        return world.durably(() => newestUpdate(world, userPk));
      },
      async updatedAfter(after, limit) {
        access.require();
        return world.durably(() => updatedAfter(world, userPk, after, limit));
      },
    },
    notes: {
      async setPersonalNote(index, personalNote) {
        access.require('update_personal_note');
        return world.durably(() => updatePayment(world, userPk, index, { personalNote }));
      },
    },
    offers: {
      async createOffer(command) {
        access.require('create_offer');
        return world.durably(() => createOffer(world, { kind: 'wallet', userPk }, command));
      },
      async fetchInvoice(command) {
        access.require('pay_offer');
        return world.durably(() => fetchInvoiceOf(world, userPk, command));
      },
      async payFetched(command) {
        return send(command, 'pay_offer', () => startFetchedPayment(world, userPk, command));
      },
    },
    spontaneous: {
      async pay(command) {
        return send(command, 'pay_invoice', () => startSpontaneousPayment(world, userPk, command));
      },
    },
    holdInvoices: {
      async create(command) {
        access.require('create_invoice');
        return world.durably(() => {
          const created = createHoldInvoice(world, userPk, command);
          parts.expiry.sweep();
          return created;
        });
      },
      async settle(index, preimage) {
        access.require('create_invoice');
        await world.durably(() => settleHeld(world, userPk, index, preimage));
      },
    },
    onchain: {
      async nextUnusedAddress(type) {
        access.require('get_next_unused_address');
        return world.durably(() => nextUnusedAddress(world, userPk, type));
      },
      async sign(command) {
        access.require('pay_onchain');
        return world.durably(() => signOnchain(world, userPk, command));
      },
      async publish(command, signed) {
        return send(command, 'pay_onchain', () => publishOnchain(world, userPk, command, signed));
      },
      async renew(signed) {
        access.require('pay_onchain');
        await world.durably(() => renewSigned(world, userPk, signed));
      },
      async release(signed) {
        access.require('pay_onchain');
        await world.durably(() => releaseSigned(world, userPk, signed));
      },
      async mostSendable(command) {
        access.require('pay_onchain');
        return world.durably(() => mostSendable(world, userPk, command));
      },
      async bumpFeeBoundMsat(command) {
        access.require('pay_onchain');
        return world.durably(() => bumpFeeBoundMsat(world, userPk, command));
      },
      async bumpFee(command) {
        access.require('pay_onchain');
        return world.durably(() => bumpFee(world, userPk, command));
      },
      async estimateFeeMsat(command) {
        access.require();
        return world.durably(() => estimateOnchainFeeMsat(world, userPk, command));
      },
    },
    channels: {
      async listChannels() {
        access.require('list_channels');
        return world.durably(() => listChannels(world, userPk));
      },
      async openFeeBoundMsat(valueMsat) {
        access.require('open_channel');
        return world.durably(() => openFeeBoundMsat(world, userPk, valueMsat));
      },
      async openChannel(command) {
        access.require('open_channel');
        return world.durably(() => openChannel(world, userPk, command));
      },
      async closeFeeBoundMsat(channelId) {
        access.require('close_channel');
        return world.durably(() => closeFeeBoundMsat(world, userPk, channelId));
      },
      // A forced close is the same as one with the peer, who never goes away here and whose delay is nothing.
      async closeChannel(channelId, { maxFeeMsat }) {
        access.require('close_channel');
        const order = { channelId, maxFeeMsat };
        const feeMsat = await world.durably(() => closeChannel(world, userPk, order));
        return { feeMsat, isNew: true };
      },
    },
    tokens: {
      newId: () => hex.encode(world.random(16)),
      obstacle: () => null,
      async issue(command) {
        access.require('create_client', 'update_client');
        access.requireAll(command.permissions);
        return world.durably(() => tokens.issue(userPk, command));
      },
      async revoke(id) {
        access.require('revoke_client', 'update_client');
        await world.durably(() => tokens.revoke(userPk, id));
      },
      async list() {
        access.require('list_clients', 'revoke_client', 'update_client');
        return world.durably(() => tokens.list(userPk));
      },
    },
    proofs: {
      kind: 'material',
      async proofMaterial(index) {
        access.require('create_payer_proof');
        return world.durably(() => proofMaterial(world, userPk, index));
      },
    },
  };
}

function observedOrNull(payment: Payment | null): Observation | null {
  return payment && observed(payment);
}

/** The number of rows changed since the world was opened. */
function totalChanges({ db }: World): number {
  return db.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0;
}
