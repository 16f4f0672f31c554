import type { Permission } from '../../../model/clients/permissions.ts';
import type { TokenGrant } from '../../node.ts';
import { grantBy, methodsOf, type NeedsTable, NO_NEEDS } from '../../remote/place/needs.ts';
import type { Operation } from '../words/macaroon.ts';

/** The LND methods that are called, with the operations for macaroons without a `uri` permission for them. */
export const METHODS = {
  '/lnrpc.Lightning/GetInfo': ['info:read'],
  '/lnrpc.Lightning/WalletBalance': ['onchain:read'],
  '/lnrpc.Lightning/ListChannels': ['offchain:read'],
  '/lnrpc.Lightning/PendingChannels': ['offchain:read'],
  '/lnrpc.Lightning/AddInvoice': ['invoices:write'],
  '/lnrpc.Lightning/LookupInvoice': ['invoices:read'],
  '/lnrpc.Lightning/ListInvoices': ['invoices:read'],
  '/lnrpc.Lightning/SubscribeInvoices': ['invoices:read'],
  '/invoicesrpc.Invoices/CancelInvoice': ['invoices:write'],
  '/invoicesrpc.Invoices/AddHoldInvoice': ['invoices:write'],
  '/invoicesrpc.Invoices/SettleInvoice': ['invoices:write'],
  // Where the owner's macaroon does not allow it, the lists show what is held.
  '/invoicesrpc.Invoices/SubscribeSingleInvoice': ['invoices:read'],
  '/routerrpc.Router/SendPaymentV2': ['offchain:write'],
  // No permission needs it: where the owner's macaroon does not allow it, there is no estimate.
  '/routerrpc.Router/EstimateRouteFee': ['offchain:read'],
  '/routerrpc.Router/TrackPaymentV2': ['offchain:read'],
  '/routerrpc.Router/TrackPayments': ['offchain:read'],
  '/lnrpc.Lightning/ListPayments': ['offchain:read'],
  '/lnrpc.Lightning/NewAddress': ['address:write'],
  '/lnrpc.Lightning/EstimateFee': ['onchain:read'],
  '/lnrpc.Lightning/GetTransactions': ['onchain:read'],
  '/lnrpc.Lightning/SubscribeTransactions': ['onchain:read'],
  '/walletrpc.WalletKit/ListUnspent': ['onchain:read'],
  '/walletrpc.WalletKit/FundPsbt': ['onchain:write'],
  '/walletrpc.WalletKit/FinalizePsbt': ['onchain:write'],
  '/walletrpc.WalletKit/PublishTransaction': ['onchain:write'],
  '/walletrpc.WalletKit/LeaseOutput': ['onchain:write'],
  '/walletrpc.WalletKit/ReleaseOutput': ['onchain:write'],
  // No permission needs it: where the owner's macaroon does not allow it, locked coins are not counted.
  '/walletrpc.WalletKit/ListLeases': ['onchain:read'],
  '/walletrpc.WalletKit/EstimateFee': ['onchain:read'],
  '/walletrpc.WalletKit/BumpFee': ['onchain:write'],
  '/walletrpc.WalletKit/PendingSweeps': ['onchain:read'],
  '/chainrpc.ChainNotifier/RegisterBlockEpochNtfn': ['onchain:read'],
  '/chainrpc.ChainNotifier/RegisterSpendNtfn': ['onchain:read'],
  '/walletrpc.WalletKit/LabelTransaction': ['onchain:write'],
  '/lnrpc.Lightning/ConnectPeer': ['peers:write'],
  '/lnrpc.Lightning/OpenChannelSync': ['onchain:write', 'offchain:write'],
  '/lnrpc.Lightning/CloseChannel': ['onchain:write', 'offchain:write'],
  '/lnrpc.Lightning/BakeMacaroon': ['macaroon:generate'],
  '/lnrpc.Lightning/DeleteMacaroonID': ['macaroon:write'],
} as const satisfies Record<string, readonly string[]>;

type Method = keyof typeof METHODS;

/** Every client's token may call GetInfo, by which the sidecar finds out whether LND still accepts the token. */
const EVERY_TOKEN: readonly Method[] = ['/lnrpc.Lightning/GetInfo'];

/** The methods by which a wallet's payments are followed. */
const FOLLOW: readonly Method[] = [
  '/lnrpc.Lightning/LookupInvoice',
  '/lnrpc.Lightning/ListInvoices',
  '/lnrpc.Lightning/SubscribeInvoices',
  '/lnrpc.Lightning/ListPayments',
  '/routerrpc.Router/TrackPaymentV2',
  '/routerrpc.Router/TrackPayments',
  '/lnrpc.Lightning/GetTransactions',
  '/lnrpc.Lightning/SubscribeTransactions',
  '/chainrpc.ChainNotifier/RegisterBlockEpochNtfn',
];

const READ_ONE: readonly Method[] = [
  '/lnrpc.Lightning/LookupInvoice',
  '/routerrpc.Router/TrackPaymentV2',
  '/lnrpc.Lightning/GetTransactions',
];
const CHANNELS: readonly Method[] = [
  '/lnrpc.Lightning/ListChannels',
  '/lnrpc.Lightning/PendingChannels',
];

/** The methods that each permission needs; null where LND has no such feature (error 110). */
const NEEDS: NeedsTable<Method> = {
  node_info: {
    own: ['/lnrpc.Lightning/WalletBalance', ...CHANNELS],
    owner: ['/lnrpc.Lightning/GetTransactions'],
  },
  list_channels: { own: CHANNELS, owner: [] },
  // Names are rows of the sidecar's store.
  get_human_bitcoin_address: NO_NEEDS,
  // The wallet looks up payments for its own use as well, and serves reads from its journal: both with the owner's
  // token.
  get_payments_by_indexes: { own: [], owner: READ_ONE },
  get_new_payments: { own: [], owner: FOLLOW },
  get_updated_payments: { own: [], owner: FOLLOW },
  get_payment_by_id: { own: [], owner: READ_ONE },
  list_broadcasted_txs: { own: ['/lnrpc.Lightning/GetTransactions'], owner: [] },
  get_next_unused_address: { own: ['/lnrpc.Lightning/NewAddress'], owner: [] },
  create_invoice: {
    own: ['/lnrpc.Lightning/AddInvoice'],
    additions: ['/invoicesrpc.Invoices/AddHoldInvoice', '/invoicesrpc.Invoices/SettleInvoice'],
    owner: ['/lnrpc.Lightning/LookupInvoice'],
  },
  create_offer: null,
  resync: { own: [], owner: FOLLOW },
  cancel_payment: {
    own: ['/invoicesrpc.Invoices/CancelInvoice'],
    owner: ['/lnrpc.Lightning/LookupInvoice'],
  },
  pay_invoice: {
    own: ['/routerrpc.Router/SendPaymentV2'],
    owner: [
      '/lnrpc.Lightning/ListChannels',
      '/lnrpc.Lightning/ListPayments',
      '/routerrpc.Router/TrackPaymentV2',
    ],
  },
  pay_offer: null,
  pay_onchain: {
    own: [
      '/walletrpc.WalletKit/FundPsbt',
      '/walletrpc.WalletKit/FinalizePsbt',
      '/walletrpc.WalletKit/PublishTransaction',
    ],
    owner: [
      '/lnrpc.Lightning/EstimateFee',
      '/lnrpc.Lightning/GetTransactions',
      '/lnrpc.Lightning/WalletBalance',
      '/walletrpc.WalletKit/EstimateFee',
      '/walletrpc.WalletKit/ListUnspent',
      '/walletrpc.WalletKit/PendingSweeps',
      '/walletrpc.WalletKit/BumpFee',
      '/walletrpc.WalletKit/LeaseOutput',
      '/walletrpc.WalletKit/ReleaseOutput',
    ],
  },
  create_payer_proof: null,
  update_personal_note: NO_NEEDS,
  // Claiming needs the balance, and payers of the name get invoices that the owner's token makes.
  update_human_bitcoin_address: {
    own: [],
    owner: [
      '/lnrpc.Lightning/WalletBalance',
      ...CHANNELS,
      '/lnrpc.Lightning/GetTransactions',
      '/lnrpc.Lightning/AddInvoice',
      '/lnrpc.Lightning/LookupInvoice',
    ],
  },
  open_channel: {
    own: ['/lnrpc.Lightning/ConnectPeer', '/lnrpc.Lightning/OpenChannelSync'],
    owner: ['/walletrpc.WalletKit/ListUnspent', '/walletrpc.WalletKit/EstimateFee', ...CHANNELS],
  },
  close_channel: {
    own: ['/lnrpc.Lightning/CloseChannel'],
    owner: ['/walletrpc.WalletKit/EstimateFee', ...CHANNELS],
  },
  list_clients: NO_NEEDS,
  create_client: { own: [], owner: ['/lnrpc.Lightning/BakeMacaroon'] },
  update_client: {
    own: [],
    owner: ['/lnrpc.Lightning/BakeMacaroon', '/lnrpc.Lightning/DeleteMacaroonID'],
  },
  revoke_client: { own: [], owner: ['/lnrpc.Lightning/DeleteMacaroonID'] },
  manage_webhooks: NO_NEEDS,
  // What is approved is sent with the token of the client that asked for it. A token that cannot pay approves nothing.
  approve_payments: { own: [], owner: ['/routerrpc.Router/SendPaymentV2'] },
};

/** Returns the `uri` operations that a client's macaroon needs for the permissions, and no others. */
export function operationsFor(permissions: readonly Permission[]): Operation[] {
  const methods = new Set([...EVERY_TOKEN, ...methodsOf(NEEDS, permissions)]);
  return [...methods].map((action) => ({ entity: 'uri', action }));
}

/** Returns what a configured macaroon allows. */
export function grantOf(operations: readonly Operation[]): TokenGrant {
  const held = new Set(operations.map(textOf));
  const missingFor = (method: Method): string[] =>
    held.has(`uri:${method}`) ? [] : METHODS[method].filter((operation) => !held.has(operation));
  return grantBy(
    NEEDS,
    (method) => missingFor(method).length === 0,
    (permission, methods) => {
      const missing = [...new Set(methods.flatMap(missingFor))];
      return `The configured macaroon lacks ${missing.join(' and ')}, which ${permission} needs: run "${bakeCommand(operations, missing)}", then \`connect lnd\` with that file.`;
    },
  );
}

/** Returns the command that bakes a macaroon with these operations and the missing ones. */
export function bakeCommand(operations: readonly Operation[], missing: readonly string[]): string {
  const wanted = [...new Set([...missing, ...operations.map(textOf)])];
  return `lncli bakemacaroon --save_to wallet-sidecar.macaroon ${wanted.join(' ')}`;
}

function textOf({ entity, action }: Operation): string {
  return `${entity}:${action}`;
}
