import { PERMISSIONS, type Permission } from '../../model/permissions.ts';
import type { Operation } from './macaroon.ts';

/** The LND methods that this connector calls, with the operations that LND asks of a macaroon without a `uri`. */
const METHODS = {
  '/lnrpc.Lightning/GetInfo': ['info:read'],
  '/lnrpc.Lightning/WalletBalance': ['onchain:read'],
  '/lnrpc.Lightning/ListChannels': ['offchain:read'],
  '/lnrpc.Lightning/PendingChannels': ['offchain:read'],
  '/lnrpc.Lightning/AddInvoice': ['invoices:write'],
  '/lnrpc.Lightning/LookupInvoice': ['invoices:read'],
  '/lnrpc.Lightning/ListInvoices': ['invoices:read'],
  '/lnrpc.Lightning/SubscribeInvoices': ['invoices:read'],
  '/invoicesrpc.Invoices/CancelInvoice': ['invoices:write'],
  '/routerrpc.Router/SendPaymentV2': ['offchain:write'],
  '/routerrpc.Router/TrackPaymentV2': ['offchain:read'],
  '/routerrpc.Router/TrackPayments': ['offchain:read'],
  '/lnrpc.Lightning/ListPayments': ['offchain:read'],
  '/lnrpc.Lightning/NewAddress': ['address:write'],
  '/lnrpc.Lightning/SendCoins': ['onchain:write'],
  '/lnrpc.Lightning/EstimateFee': ['onchain:read'],
  '/lnrpc.Lightning/GetTransactions': ['onchain:read'],
  '/lnrpc.Lightning/SubscribeTransactions': ['onchain:read'],
  '/chainrpc.ChainNotifier/RegisterBlockEpochNtfn': ['onchain:read'],
  '/lnrpc.Lightning/ConnectPeer': ['peers:write'],
  '/lnrpc.Lightning/OpenChannelSync': ['onchain:write', 'offchain:write'],
  '/lnrpc.Lightning/CloseChannel': ['onchain:write', 'offchain:write'],
  '/lnrpc.Lightning/BakeMacaroon': ['macaroon:generate'],
  '/lnrpc.Lightning/DeleteMacaroonID': ['macaroon:write'],
} as const satisfies Record<string, readonly string[]>;

type Method = keyof typeof METHODS;

/** What every client may do: without it the sidecar could not tell which wallet a macaroon is for. */
const EVERY_CLIENT: readonly Method[] = ['/lnrpc.Lightning/GetInfo'];

/** What following a wallet's payments takes. */
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

/** What each permission needs of LND; null where LND has nothing of the kind (error 110). */
const METHODS_OF: Readonly<Record<Permission, readonly Method[] | null>> = {
  node_info: ['/lnrpc.Lightning/WalletBalance', '/lnrpc.Lightning/GetTransactions', ...CHANNELS],
  list_channels: CHANNELS,
  get_human_bitcoin_address: null,
  get_payments_by_indexes: READ_ONE,
  get_new_payments: FOLLOW,
  get_updated_payments: FOLLOW,
  get_payment_by_id: READ_ONE,
  list_broadcasted_txs: ['/lnrpc.Lightning/GetTransactions'],
  get_next_unused_address: ['/lnrpc.Lightning/NewAddress'],
  create_invoice: ['/lnrpc.Lightning/AddInvoice', '/lnrpc.Lightning/LookupInvoice'],
  create_offer: null,
  resync: [],
  cancel_payment: ['/invoicesrpc.Invoices/CancelInvoice', '/lnrpc.Lightning/LookupInvoice'],
  pay_invoice: [
    '/routerrpc.Router/SendPaymentV2',
    '/routerrpc.Router/TrackPaymentV2',
    '/lnrpc.Lightning/LookupInvoice',
    '/lnrpc.Lightning/ListChannels',
  ],
  pay_offer: null,
  pay_onchain: [
    '/lnrpc.Lightning/SendCoins',
    '/lnrpc.Lightning/EstimateFee',
    '/lnrpc.Lightning/GetTransactions',
  ],
  create_payer_proof: null,
  update_personal_note: [],
  update_human_bitcoin_address: null,
  open_channel: ['/lnrpc.Lightning/ConnectPeer', '/lnrpc.Lightning/OpenChannelSync', ...CHANNELS],
  close_channel: ['/lnrpc.Lightning/CloseChannel', ...CHANNELS],
  list_clients: [],
  create_client: ['/lnrpc.Lightning/BakeMacaroon', '/lnrpc.Lightning/DeleteMacaroonID'],
  update_client: ['/lnrpc.Lightning/BakeMacaroon', '/lnrpc.Lightning/DeleteMacaroonID'],
  revoke_client: ['/lnrpc.Lightning/DeleteMacaroonID'],
};

/** Permissions whose methods let their holder make macaroons for anything, whatever its own allows. */
const BAKING: readonly Permission[] = ['create_client', 'update_client'];

/** The `uri` operations that a client's macaroon needs for its permissions, and no others. */
export function operationsFor(permissions: readonly Permission[]): Operation[] {
  const methods = permissions.flatMap((permission) => METHODS_OF[permission] ?? []);
  return uriOperations([...EVERY_CLIENT, ...methods]);
}

/** The `uri` operations by which the sidecar itself follows a wallet. */
export function operationsToFollow(): Operation[] {
  return uriOperations([...EVERY_CLIENT, ...FOLLOW]);
}

/** The permissions that a macaroon made elsewhere is good for; those that LND cannot serve come with any. */
export function permissionsOf(operations: readonly Operation[]): Permission[] {
  const held = new Set(operations.map(({ entity, action }) => `${entity}:${action}`));
  const allowed = (method: Method) =>
    held.has(`uri:${method}`) || METHODS[method].every((operation) => held.has(operation));
  return PERMISSIONS.filter((permission) => (METHODS_OF[permission] ?? []).every(allowed));
}

/** Of permissions, those that LND can serve; the others are answered with error 110 whatever the macaroon. */
export function servedByLnd(permissions: readonly Permission[]): Permission[] {
  return permissions.filter((permission) => METHODS_OF[permission] !== null);
}

/** A permission of the grant that only a holder of all of them may have on LND, or null. */
export function bakingBeyondFull(permissions: readonly Permission[]): Permission | null {
  if (permissions.length === PERMISSIONS.length) return null;
  return BAKING.find((permission) => permissions.includes(permission)) ?? null;
}

function uriOperations(methods: readonly Method[]): Operation[] {
  return [...new Set(methods)].map((action) => ({ entity: 'uri', action }));
}
