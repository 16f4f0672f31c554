import { hex } from '@scure/base';
import type { Permission } from '../../model/clients/permissions.ts';
import type { NodeInfo } from '../../model/node-info.ts';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { CreateOfferCommand, NodeDescriptor, Observation, WalletNode } from '../node.ts';
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
  /**
   * Returns a call of the port: work on the wallet that is durable when the call resolves, for tokens with one of the
   * permissions; without any, for every valid token.
   */
  const call =
    <Args extends unknown[], Result>(
      permissions: readonly Permission[],
      work: (world: World, userPk: string, ...args: Args) => Result,
    ) =>
    async (...args: Args): Promise<Result> => {
      access.require(...permissions);
      return world.durably(() => work(world, userPk, ...args));
    };
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
    createInvoice: call(['create_invoice'], sweeping(parts, createInvoice)),
    cancelInvoice: call(['cancel_payment', 'create_invoice'], cancelInvoice),
    newestAttempt: call([], () => null),
    async payInvoice(command) {
      return send(command, 'pay_invoice', () => startInvoicePayment(world, userPk, command));
    },
    sendOutcome: call([], sendOutcome),
    estimateRoutingFeeMsat: call([], estimateRoutingFeeMsat),
    payment: call([], (...asked: Parameters<typeof findPayment>) =>
      observedOrNull(findPayment(...asked)),
    ),
    latestPayment: call([], (...asked: Parameters<typeof latestPayment>) =>
      observedOrNull(latestPayment(...asked)),
    ),
    updates(options) {
      access.require();
      return walletUpdates(world, userPk, { ...options, check: () => access.require() });
    },
    history: {
      tip: call([], newestUpdate),
      updatedAfter: call([], updatedAfter),
    },
    notes: {
      setPersonalNote: call(
        ['update_personal_note'],
        (_, __, index: PaymentIndex, personalNote: string | null) =>
          updatePayment(world, userPk, index, { personalNote }),
      ),
    },
    offers: {
      createOffer: call(['create_offer'], (_, __, command: CreateOfferCommand) =>
        createOffer(world, { kind: 'wallet', userPk }, command),
      ),
      fetchInvoice: call(['pay_offer'], fetchInvoiceOf),
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
      create: call(['create_invoice'], sweeping(parts, createHoldInvoice)),
      settle: call(['create_invoice'], settleHeld),
    },
    onchain: {
      nextUnusedAddress: call(['get_next_unused_address'], nextUnusedAddress),
      sign: call(['pay_onchain'], signOnchain),
      async publish(command, signed) {
        return send(command, 'pay_onchain', () => publishOnchain(world, userPk, command, signed));
      },
      renew: call(['pay_onchain'], renewSigned),
      release: call(['pay_onchain'], releaseSigned),
      mostSendable: call(['pay_onchain'], mostSendable),
      bumpFeeBoundMsat: call(['pay_onchain'], bumpFeeBoundMsat),
      bumpFee: call(['pay_onchain'], bumpFee),
      estimateFeeMsat: call([], estimateOnchainFeeMsat),
    },
    channels: {
      listChannels: call(['list_channels'], listChannels),
      openFeeBoundMsat: call(['open_channel'], openFeeBoundMsat),
      openChannel: call(['open_channel'], openChannel),
      closeFeeBoundMsat: call(['close_channel'], closeFeeBoundMsat),
      closeChannel: call(['close_channel'], closeChannel),
    },
    tokens: {
      newId: () => hex.encode(world.random(16)),
      obstacle: () => null,
      async issue(command) {
        access.require('create_client', 'update_client');
        access.requireAll(command.permissions);
        return world.durably(() => tokens.issue(userPk, command));
      },
      revoke: call(['revoke_client', 'update_client'], (_, __, id: string) =>
        tokens.revoke(userPk, id),
      ),
      list: call(['list_clients', 'revoke_client', 'update_client'], () => tokens.list(userPk)),
    },
    proofs: {
      kind: 'material',
      proofMaterial: call(['create_payer_proof'], proofMaterial),
    },
  };
}

/** Work after which the timers know of what expires next. */
function sweeping<Args extends unknown[], Result>(
  { expiry }: NodeParts,
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    const result = work(...args);
    expiry.sweep();
    return result;
  };
}

function observedOrNull(payment: Payment | null): Observation | null {
  return payment && observed(payment);
}

/** The number of rows changed since the world was opened. */
function totalChanges({ db }: World): number {
  return db.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0;
}
