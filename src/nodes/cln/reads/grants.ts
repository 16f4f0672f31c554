import type { Permission } from '../../../model/clients/permissions.ts';
import type { TokenGrant } from '../../connector.ts';
import { grantBy, methodsOf, type NeedsTable, NO_NEEDS } from '../../remote/place/needs.ts';
import { allowsMethod, type Rune } from '../words/rune.ts';

/** The commands of Core Lightning that this connector calls with a client's or the owner's rune. */
export type Method =
  | 'blacklistrune'
  | 'close'
  | 'connect'
  | 'createproof'
  | 'createrune'
  | 'delinvoice'
  | 'feerates'
  | 'fetchinvoice'
  | 'fundchannel'
  | 'getinfo'
  | 'getroutes'
  | 'getutxout'
  | 'invoice'
  | 'listchainmoves'
  | 'listclosedchannels'
  | 'listfunds'
  | 'listinvoices'
  | 'listpeerchannels'
  | 'listsendpays'
  | 'listtransactions'
  | 'newaddr'
  | 'offer'
  | 'reserveinputs'
  | 'sendpsbt'
  | 'showrunes'
  | 'signpsbt'
  | 'txprepare'
  | 'unreserveinputs'
  | 'utxopsbt'
  | 'wait'
  | 'xpay';

/** Every client's rune may call getinfo, by which the sidecar finds out whether the node still accepts the rune. */
const EVERY_RUNE: readonly Method[] = ['getinfo'];

/** The commands by which a wallet's payments are followed. */
const FOLLOW: readonly Method[] = [
  'wait',
  'listinvoices',
  'listsendpays',
  'listchainmoves',
  'listclosedchannels',
  'listfunds',
  'listpeerchannels',
  'listtransactions',
];

const NEEDS: NeedsTable<Method> = {
  node_info: {
    own: ['getinfo', 'listfunds', 'listpeerchannels', 'listtransactions'],
    owner: [],
  },
  list_channels: { own: ['listpeerchannels'], owner: [] },
  // Names are rows of the sidecar's store.
  get_human_bitcoin_address: NO_NEEDS,
  // The wallet looks up payments for its own use as well, and serves reads from its journal: both with the owner's
  // rune.
  get_payments_by_indexes: { own: [], owner: FOLLOW },
  get_new_payments: { own: [], owner: FOLLOW },
  get_updated_payments: { own: [], owner: FOLLOW },
  get_payment_by_id: { own: [], owner: FOLLOW },
  list_broadcasted_txs: { own: ['listtransactions'], owner: [] },
  get_next_unused_address: { own: ['newaddr'], owner: ['listfunds'] },
  create_invoice: { own: ['invoice'], owner: ['listinvoices'] },
  create_offer: { own: ['offer'], owner: ['listinvoices'] },
  resync: { own: [], owner: FOLLOW },
  cancel_payment: { own: ['delinvoice'], owner: ['listinvoices'] },
  pay_invoice: { own: ['xpay'], owner: ['listsendpays', 'listpeerchannels', 'wait'] },
  pay_offer: {
    own: ['fetchinvoice', 'xpay'],
    owner: ['listinvoices', 'listsendpays', 'listpeerchannels', 'wait'],
  },
  pay_onchain: {
    own: ['txprepare', 'utxopsbt', 'signpsbt', 'sendpsbt'],
    owner: [
      'feerates',
      'getutxout',
      'listchainmoves',
      'listfunds',
      'listtransactions',
      'reserveinputs',
      'unreserveinputs',
    ],
  },
  create_payer_proof: { own: ['createproof'], owner: [] },
  update_personal_note: NO_NEEDS,
  // Claiming needs the balance, and payers of the name get invoices and offers that the owner's rune makes.
  update_human_bitcoin_address: {
    own: [],
    owner: ['listfunds', 'listpeerchannels', 'invoice', 'listinvoices', 'offer'],
  },
  open_channel: {
    own: ['connect', 'fundchannel'],
    owner: ['feerates', 'listfunds', 'listpeerchannels', 'listtransactions'],
  },
  close_channel: { own: ['close'], owner: ['listpeerchannels', 'feerates'] },
  list_clients: NO_NEEDS,
  create_client: { own: [], owner: ['createrune', 'showrunes', 'blacklistrune'] },
  update_client: { own: [], owner: ['createrune', 'showrunes', 'blacklistrune'] },
  revoke_client: { own: [], owner: ['showrunes', 'blacklistrune'] },
  manage_webhooks: NO_NEEDS,
  // What is approved is sent with the token of the client that asked for it. A token that cannot pay approves nothing.
  approve_payments: { own: [], owner: ['xpay'] },
};

/** Returns the commands that a client's rune must allow for the permissions, and no others. */
export function methodsFor(permissions: readonly Permission[]): Method[] {
  return [...new Set([...EVERY_RUNE, ...methodsOf(NEEDS, permissions)])];
}

/** Returns what a configured rune allows. */
export function grantOf(rune: Rune): TokenGrant {
  return grantBy(
    NEEDS,
    (method) => allowsMethod(rune, method),
    (permission, missing) =>
      `The configured rune does not allow ${missing.join(' and ')}, which ${permission} needs: make one that does with \`lightning-cli createrune\`, then run \`connect cln\` with it.`,
  );
}
