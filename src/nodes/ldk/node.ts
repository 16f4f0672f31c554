import type { Permission } from '../../model/clients/permissions.ts';
import { isApiError } from '../../model/errors.ts';
import type { NodeInfo } from '../../model/node-info.ts';
import { idOfIndex, type PaymentId } from '../../model/payment-index.ts';
import type { Observation, SendReport, WalletNode } from '../node.ts';
import { lessRoutingFees } from '../remote/place/sendable.ts';
import {
  closeChannel,
  closeFeeBoundMsat,
  listChannels,
  openChannel,
  sendableMsat,
} from './channels/channels.ts';
import { followWallet } from './follow/updates.ts';
import {
  cancelInvoice,
  createHoldInvoice,
  createInvoice,
  settleHoldInvoice,
} from './lightning/invoices.ts';
import { createOffer } from './lightning/offers.ts';
import {
  estimateRoutingFeeMsat,
  lightningOutcome,
  lightningPayment,
  newestAttempt,
  offerPayment,
  payInvoice,
  payOffer,
  paySpontaneous,
} from './lightning/payments.ts';
import { bumpFee, bumpFeeBoundMsat } from './onchain/bump.ts';
import {
  estimateFeeMsat,
  keptSend,
  mostSendable,
  nextUnusedAddress,
  onchainOutcome,
  openFeeMsat,
  publishSend,
  releaseSend,
  renewSend,
  signSend,
} from './onchain/onchain.ts';
import type { HelperProgram } from './process/program.ts';
import type { LdkWallet } from './process/wallet.ts';
import { type Access, ldkTokens } from './set-up/tokens.ts';
import { transactionObservations } from './words/translate.ts';
import { shapes } from './words/words.ts';

/** Returns the node port of the embedded node for one token, whose permissions `access` checks at each call. */
export function ldkNode(
  wallet: LdkWallet,
  access: Access,
  build: Pick<HelperProgram, 'measurement'>,
): WalletNode {
  function call<Args extends readonly unknown[], Result>(
    work: (wallet: LdkWallet, ...args: Args) => Promise<Result>,
    ...oneOf: Permission[]
  ) {
    return async (...args: Args): Promise<Result> => {
      await access.require(...oneOf);
      return work(wallet, ...args);
    };
  }
  function send<Args extends readonly unknown[]>(
    work: (wallet: LdkWallet, ...args: Args) => Promise<SendReport>,
    permission: Permission,
  ) {
    return async (...args: Args): Promise<SendReport> => {
      try {
        await access.require(permission);
      } catch (error) {
        if (isApiError(error)) return { state: 'refused', error };
        throw error;
      }
      return work(wallet, ...args);
    };
  }
  return {
    descriptor: { kind: 'ldk', network: wallet.network, nodePk: wallet.nodePk },
    clock: wallet.clock,
    info: call(() => nodeInfo(wallet, build), 'node_info'),
    createInvoice: call(createInvoice, 'create_invoice'),
    cancelInvoice: call(cancelInvoice, 'cancel_payment', 'create_invoice'),
    repeatsSafely: true,
    newestAttempt: call(newestAttempt),
    payInvoice: send(payInvoice, 'pay_invoice'),
    sendOutcome: call((_, question) =>
      question.payment.rail === 'onchain'
        ? onchainOutcome(wallet, question)
        : lightningOutcome(wallet, question),
    ),
    estimateRoutingFeeMsat: call(estimateRoutingFeeMsat),
    payment: call((_, index) =>
      index.includes('-fs_') ? offerPayment(wallet, index) : paymentOf(wallet, idOfIndex(index)),
    ),
    latestPayment: call(paymentOf),
    async *updates(options) {
      await access.require();
      yield* followWallet(wallet, options);
    },
    offers: {
      kind: 'whole',
      createOffer: call(createOffer, 'create_offer'),
      payOffer: send(payOffer, 'pay_offer'),
    },
    spontaneous: { pay: send(paySpontaneous, 'pay_invoice') },
    holdInvoices: {
      create: call(createHoldInvoice, 'create_invoice'),
      settle: call(settleHoldInvoice, 'create_invoice'),
    },
    onchain: {
      nextUnusedAddress: call(nextUnusedAddress, 'get_next_unused_address'),
      sign: call(signSend, 'pay_onchain'),
      publish: send(publishSend, 'pay_onchain'),
      renew: call(renewSend, 'pay_onchain'),
      release: call(releaseSend, 'pay_onchain'),
      mostSendable: call(mostSendable, 'pay_onchain'),
      bumpFeeBoundMsat: call(bumpFeeBoundMsat, 'pay_onchain'),
      bumpFee: call(bumpFee, 'pay_onchain'),
      estimateFeeMsat: call(estimateFeeMsat),
    },
    channels: {
      listChannels: call(listChannels, 'list_channels'),
      openFeeBoundMsat: call(openFeeMsat, 'open_channel'),
      openChannel: call(
        (_, command) => wallet.locks.run('open_channel', () => openChannel(wallet, command)),
        'open_channel',
      ),
      closeFeeBoundMsat: call(closeFeeBoundMsat, 'close_channel'),
      closeChannel: call(closeChannel, 'close_channel'),
    },
    tokens: ldkTokens(wallet, access),
  };
}

async function nodeInfo(
  { helper, userPk, nodePk }: LdkWallet,
  { measurement }: Pick<HelperProgram, 'measurement'>,
): Promise<NodeInfo> {
  const [info, maxSendableMsat] = await Promise.all([
    helper.call('info', {}, shapes().info),
    sendableMsat(helper),
  ]);
  return {
    version: helper.version,
    measurement,
    userPk,
    nodePk,
    lightningBalanceMsat: info.lightning_msat,
    lightningSendableMsat: lessRoutingFees(maxSendableMsat),
    lightningMaxSendableMsat: maxSendableMsat,
    onchainBalanceMsat: info.onchain_msat,
    onchainTrustedMsat: info.trusted_msat,
    numChannels: info.channels,
    numUsableChannels: info.usable,
  };
}

/** The newest payment of an id, or null. The payment of an offer is known by its index alone. */
async function paymentOf(wallet: LdkWallet, id: PaymentId): Promise<Observation | null> {
  const [prefix, name = ''] = id.split('_');
  if (prefix === 'fs') return null;
  if (prefix === 'ln' || prefix === 'fr') return lightningPayment(wallet, name);
  const { height, transactions } = await wallet.helper.call(
    'transactions',
    { since_height: null, txid: null },
    shapes().transactions,
  );
  for (const one of transactions) {
    const send = one.sent_msat > 0n ? await keptSend(wallet, one.txid) : null;
    const seen = transactionObservations(one, height, send).find(
      ({ payment }) => idOfIndex(payment.index) === id,
    );
    if (seen) return seen;
  }
  return null;
}
