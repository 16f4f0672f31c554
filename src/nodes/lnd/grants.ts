import { PERMISSIONS, type Permission } from '../../model/permissions.ts';
import type { TokenGrant } from '../node.ts';
import type { Operation } from './macaroon.ts';

/**
 * The LND methods that this connector calls, each with the operations that a macaroon needs for it when it does not
 * name the method as a `uri` permission.
 */
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

/** The LND methods that a permission needs. */
interface Needs {
  /** Called with the client's own token, so that LND itself refuses what was not granted. */
  readonly own: readonly Method[];
  /**
   * The client's own token allows these as well, but a configured macaroon without them has the permission all the
   * same: what they do is refused then.
   */
  readonly additions?: readonly Method[];
  /** Called with the owner's token: look-ups that the sidecar needs, so that the client's token need not allow them. */
  readonly owner: readonly Method[];
}

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
const NOTHING: Needs = { own: [], owner: [] };

/** The methods that each permission needs; null where LND has no such feature (error 110). */
const NEEDS: Readonly<Record<Permission, Needs | null>> = {
  node_info: {
    own: ['/lnrpc.Lightning/WalletBalance', ...CHANNELS],
    owner: ['/lnrpc.Lightning/GetTransactions'],
  },
  list_channels: { own: CHANNELS, owner: [] },
  // Names are rows of the sidecar's store.
  get_human_bitcoin_address: NOTHING,
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
  update_personal_note: NOTHING,
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
  list_clients: NOTHING,
  create_client: { own: [], owner: ['/lnrpc.Lightning/BakeMacaroon'] },
  update_client: {
    own: [],
    owner: ['/lnrpc.Lightning/BakeMacaroon', '/lnrpc.Lightning/DeleteMacaroonID'],
  },
  revoke_client: { own: [], owner: ['/lnrpc.Lightning/DeleteMacaroonID'] },
};

/** Returns the `uri` operations that a client's macaroon needs for the permissions, and no others. */
export function operationsFor(permissions: readonly Permission[]): Operation[] {
  const methods = permissions.flatMap((permission) => {
    const { own, additions = [] } = NEEDS[permission] ?? NOTHING;
    return [...own, ...additions];
  });
  return [...new Set([...EVERY_TOKEN, ...methods])].map((action) => ({ entity: 'uri', action }));
}

/**
 * Returns the permissions that a configured macaroon suffices for. It includes those that LND cannot serve, which need
 * no method.
 */
export function permissionsOf(operations: readonly Operation[]): Permission[] {
  return PERMISSIONS.filter((permission) => missingFor(operations, permission).length === 0);
}

/** What a configured macaroon allows. */
export function grantOf(operations: readonly Operation[]): TokenGrant {
  const permissions = permissionsOf(operations);
  return {
    permissions,
    served: servedByLnd(permissions),
    lacks(permission) {
      const missing = missingFor(operations, permission);
      return `The configured macaroon lacks ${missing.join(' and ')}, which ${permission} needs: run "${bakeCommand(operations, missing)}", then \`connect lnd\` with that file.`;
    },
  };
}

/** The command that bakes a macaroon with these operations and the missing ones. */
export function bakeCommand(operations: readonly Operation[], missing: readonly string[]): string {
  const wanted = [...new Set([...missing, ...operations.map(textOf)])];
  return `lncli bakemacaroon --save_to wallet-sidecar.macaroon ${wanted.join(' ')}`;
}

/** The operations that a macaroon with these ones lacks for a permission, as `lncli bakemacaroon` takes them. */
function missingFor(operations: readonly Operation[], permission: Permission): string[] {
  const held = new Set(operations.map(textOf));
  const { own, owner } = NEEDS[permission] ?? NOTHING;
  const missing = [...own, ...owner]
    .filter((method) => !held.has(`uri:${method}`))
    .flatMap((method) => METHODS[method].filter((operation) => !held.has(operation)));
  return [...new Set(missing)];
}

function textOf({ entity, action }: Operation): string {
  return `${entity}:${action}`;
}

/** Returns those of the permissions that LND can serve; the others are error 110 with any macaroon. */
function servedByLnd(permissions: readonly Permission[]): Permission[] {
  return permissions.filter((permission) => NEEDS[permission] !== null);
}
