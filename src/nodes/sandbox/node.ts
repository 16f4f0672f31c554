import { hex } from '@scure/base';
import type { Permission } from '../../model/clients/permissions.ts';
import type { NodeInfo } from '../../model/node-info.ts';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type {
  CreatedInvoice,
  CreateOfferCommand,
  NodeChannels,
  NodeDescriptor,
  Observation,
  SendReport,
  WalletNode,
} from '../node.ts';
import {
  closeChannel,
  closeFeeBoundMsat,
  openChannel,
  openFeeBoundMsat,
} from './lightning/channel-orders.ts';
import { liveChannels } from './lightning/channels.ts';
import { estimateRoutingFeeMsat, routingFeeMsat } from './lightning/fees.ts';
import { cancelInvoice, settleHeld } from './lightning/held.ts';
import { createHoldInvoice, createInvoice } from './lightning/invoices.ts';
import {
  startFetchedPayment,
  startInvoicePayment,
  startSpontaneousPayment,
} from './lightning/payments.ts';
import { observed, reportSend, sendOutcome } from './lightning/sends.ts';
import { createOffer, fetchInvoiceOf, proofMaterial } from './offers/offers.ts';
import { bumpFee, bumpFeeBoundMsat } from './onchain/bump.ts';
import { nextUnusedAddress, onchainBalances } from './onchain/funds.ts';
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
  putAwaiting,
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

type FeeLimit = Parameters<NodeChannels['closeChannel']>[1];

const SANDBOX = { kind: 'sandbox', network: 'regtest' } as const satisfies Partial<NodeDescriptor>;

/** Returns the node port of a sandbox wallet for one token. `access` checks the token's permissions at each call. */
export function sandboxNode(parts: NodeParts, userPk: string, access: Access): WalletNode {
  const { world, tokens } = parts;
  /** A call with one of the permissions, without any for every token; its result is durable when it resolves. */
  function call<Args extends readonly unknown[], Result>(
    work: (world: World, userPk: string, ...args: Args) => Result,
    ...oneOf: Permission[]
  ) {
    return async (...args: Args): Promise<Result> => {
      access.require(...oneOf);
      return world.durably(() => work(world, userPk, ...args));
    };
  }
  /** A call that sends. What it throws is in its report. */
  function send<Command extends { readonly index: PaymentIndex }, More extends readonly unknown[]>(
    start: (world: World, userPk: string, command: Command, ...more: More) => Payment,
    permission: Permission,
  ) {
    return (command: Command, ...more: More): Promise<SendReport> =>
      reportSend(world, {
        userPk,
        index: command.index,
        work() {
          access.require(permission);
          return start(world, userPk, command, ...more);
        },
      });
  }
  function expiring(created: CreatedInvoice): CreatedInvoice {
    parts.expiry.created(created.expiresAtMs);
    return created;
  }
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
    createInvoice: call((...of) => expiring(createInvoice(...of)), 'create_invoice'),
    cancelInvoice: call(cancelInvoice, 'cancel_payment', 'create_invoice'),
    async newestAttempt() {
      access.require();
      return null;
    },
    payInvoice: send(startInvoicePayment, 'pay_invoice'),
    sendOutcome: call(sendOutcome),
    estimateRoutingFeeMsat: call(estimateRoutingFeeMsat),
    payment: call((...of) => observedOrNull(findPayment(...of))),
    latestPayment: call((...of) => observedOrNull(latestPayment(...of))),
    updates(options) {
      access.require();
      return walletUpdates(world, userPk, { ...options, check: () => access.require() });
    },
    history: {
      tip: call(newestUpdate),
      updatedAfter: call(updatedAfter),
      putAwaiting: call(putAwaiting),
    },
    notes: {
      setPersonalNote: call(
        (world, userPk, index: PaymentIndex, personalNote: string | null) =>
          updatePayment(world, userPk, index, { personalNote }),
        'update_personal_note',
      ),
    },
    offers: {
      kind: 'fetched',
      createOffer: call(
        (world, userPk, command: CreateOfferCommand) =>
          createOffer(world, { userPk, behavior: 'settle' }, command),
        'create_offer',
      ),
      fetchInvoice: call(fetchInvoiceOf, 'pay_offer'),
      payFetched: send(startFetchedPayment, 'pay_offer'),
    },
    spontaneous: { pay: send(startSpontaneousPayment, 'pay_invoice') },
    holdInvoices: {
      create: call((...of) => expiring(createHoldInvoice(...of)), 'create_invoice'),
      settle: call(settleHeld, 'create_invoice'),
    },
    onchain: {
      nextUnusedAddress: call(nextUnusedAddress, 'get_next_unused_address'),
      sign: call(signOnchain, 'pay_onchain'),
      publish: send(publishOnchain, 'pay_onchain'),
      renew: call(renewSigned, 'pay_onchain'),
      release: call(releaseSigned, 'pay_onchain'),
      mostSendable: call(mostSendable, 'pay_onchain'),
      bumpFeeBoundMsat: call(bumpFeeBoundMsat, 'pay_onchain'),
      bumpFee: call(bumpFee, 'pay_onchain'),
      estimateFeeMsat: call(estimateOnchainFeeMsat),
    },
    channels: {
      listChannels: call(liveChannels, 'list_channels'),
      openFeeBoundMsat: call(openFeeBoundMsat, 'open_channel'),
      openChannel: call(openChannel, 'open_channel'),
      closeFeeBoundMsat: call(closeFeeBoundMsat, 'close_channel'),
      // A forced close is the same as one with the peer, who never goes away here and whose delay is nothing.
      closeChannel: call((world, userPk, channelId: string, { maxFeeMsat }: FeeLimit) => {
        const feeMsat = closeChannel(world, userPk, { channelId, maxFeeMsat });
        return { feeMsat, isNew: true };
      }, 'close_channel'),
    },
    tokens: {
      newId: () => hex.encode(world.random(16)),
      async issue(command) {
        access.require('create_client', 'update_client');
        access.requireAll(command.permissions);
        return world.durably(() => tokens.issue(userPk, command));
      },
      revoke: call(
        (_world, userPk, id: string) => tokens.revoke(userPk, id),
        'revoke_client',
        'update_client',
      ),
      list: call(() => tokens.list(userPk), 'list_clients', 'revoke_client', 'update_client'),
    },
    proofs: { kind: 'material', proofMaterial: call(proofMaterial, 'create_payer_proof') },
  };
}

function observedOrNull(payment: Payment | null): Observation | null {
  return payment && observed(payment);
}

function totalChanges({ db }: World): number {
  return db.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0;
}

function nodeInfo(
  world: World,
  userPk: string,
  { version, measurement }: { readonly version: string; readonly measurement: string },
): NodeInfo {
  const { balanceMsat, maxSendableMsat, numChannels, numUsableChannels } = lightning(world, userPk);
  return {
    version,
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
    balanceMsat: channels.reduce((sum, channel) => sum + channel.ourBalanceMsat, 0n),
    maxSendableMsat: channels.reduce((sum, channel) => sum + channel.outboundCapacityMsat, 0n),
    numChannels: channels.length,
    numUsableChannels: channels.filter((channel) => channel.isUsable).length,
  };
}

/** The most that can be sent to the outside world after the routing fee. */
function withoutRoutingFee(maxSendableMsat: bigint): bigint {
  let amountMsat = maxSendableMsat;
  // The fee follows the amount; after two rounds the result does not change any more.
  for (let round = 0; round < 3; round++) amountMsat = maxSendableMsat - routingFeeMsat(amountMsat);
  return amountMsat > 0n ? amountMsat : 0n;
}
