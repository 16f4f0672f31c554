import { hex } from '@scure/base';
import { type DecodedAddress, decodeAddress } from '../../codecs/address.ts';
import { decodeBip321 } from '../../codecs/bip321.ts';
import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { bolt12PrefixOf, decodeOffer, type Offer } from '../../codecs/bolt12/index.ts';
import { encodeLnurl } from '../../codecs/lnurl.ts';
import { refused, rejected } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import { readOrRefuse, readOrReject } from '../../model/read-or-error.ts';
import type { CreateOfferCommand } from '../node.ts';
import type { Miner } from './chain/miner.ts';
import { decideHeld } from './lightning/decisions.ts';
import {
  createOutsideInvoice,
  payInvoiceFromOutside,
  paySpontaneously,
} from './lightning/outside.ts';
import {
  createLnurlService,
  type LnurlHost,
  type LnurlQuery,
  type LnurlService,
  lightningAddressAnswer,
  lnurlAnswer,
  lnurlCallbackAnswer,
} from './lnurl/services.ts';
import type { NodeParts } from './node.ts';
import type { OfferParts } from './offers/exchange.ts';
import { createOffer } from './offers/offers.ts';
import { type OutsideOfferPayment, payOfferFromOutside } from './offers/outside.ts';
import { nextUnusedAddress } from './onchain/funds.ts';
import { receiveFromOutside } from './onchain/receive.ts';
import { replaceOutsidePayment } from './onchain/replace.ts';
import { signUp, walletKeys, walletOfNode } from './world/wallets.ts';
import type { World } from './world/world.ts';

/** What a new wallet gets on Lightning and as much on chain, in millisatoshis. */
const FIRST_FUNDS_MSAT = 1_000_000_000n;

/** The latest time of the clock: invoices must expire before the year 3058 (BOLT 11, 35 bits). */
const LAST_TIME_MS = Date.UTC(3000, 0, 1);

interface ControlOptions extends NodeParts {
  readonly miner: Miner;
  readonly lnurlHost: LnurlHost;
  /** URL of the first call of the LNURL service of that name. */
  readonly lnurlUrl: (name: string) => string;
  /** The launch link of the purchase app, with `<invoice>` in place of the invoice. */
  readonly buyLinkTemplate: string;
}

type Funds = { readonly amountMsat: bigint; readonly rail: 'lightning' | 'onchain' };
type OutsideTerms = Parameters<typeof createOutsideInvoice>[1];
type OutsideOffer = Omit<CreateOfferCommand, 'expiresAtMs' | 'externalId'> &
  Pick<OfferParts, 'price'> &
  Pick<OutsideTerms, 'behavior'>;

/** Returns the controls of the outside world, which the routes below `/sandbox` call (docs/decisions.md 78). */
export function sandboxControls(options: ControlOptions) {
  const { world, miner } = options;
  /** A call whose result is durable when it resolves. */
  const durable =
    <Args extends readonly unknown[], Result>(work: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> =>
      world.durably(() => work(...args));
  return {
    createWallet: durable(() => fundedWallet(world)),
    /** Gives a wallet the funds of a new one on Lightning and on chain, all or nothing. */
    fundNewWallet: durable((userPk: string) => fundNewWallet(world, userPk)),
    fund: durable((userPk: string, { amountMsat, rail }: Funds) =>
      rail === 'onchain'
        ? fundOnchain(world, userPk, amountMsat)
        : paySpontaneously(world, userPk, { amountMsat, message: null }),
    ),
    mine: durable((count: number) => ({ height: miner.mine(count) })),
    pay: durable((order: OutsideOrder) => ({ status: payFromOutside(options, order).status })),
    createInvoice: durable((terms: Omit<OutsideTerms, 'descriptionHash'>) =>
      createOutsideInvoice(world, { ...terms, descriptionHash: null }),
    ),
    createOffer: durable(({ behavior, ...terms }: OutsideOffer) => {
      const command = { ...terms, expiresAtMs: null, externalId: null };
      return { offer: createOffer(world, { userPk: null, behavior }, command).offer };
    }),
    decideHold: durable(({ paymentHash, settle }: { paymentHash: string; settle: boolean }) =>
      decideHeld(world, paymentHash, settle),
    ),
    createLnurl: durable((service: LnurlService) => {
      const url = options.lnurlUrl(createLnurlService(world, service).name);
      return { lnurl: encodeLnurl(url), url };
    }),
    async advanceClock(secs: number) {
      if (world.clock.now() + secs * 1000 > LAST_TIME_MS) {
        throw rejected('advance_secs', 'would pass the year 3000: move the clock by less');
      }
      return world.durably(() => {
        world.clock.advance(secs * 1000);
        miner.catchUp();
        options.expiry.sweep();
        return { now: world.clock.now() };
      });
    },
    /** The outside world takes back an unconfirmed on-chain payment. Returns the txid that replaced it. */
    replaceOnchain: durable((txid: string) => ({ txid: replaceOutsidePayment(world, txid) })),
    /** First answer of an LNURL service (LUD-03, LUD-06). */
    lnurlFirst(name: string) {
      world.commit();
      return lnurlAnswer(world, name, options.lnurlHost);
    },
    /** First answer of a pay service as a Lightning Address (LUD-16); null for other names. */
    lightningAddress(name: string) {
      world.commit();
      return lightningAddressAnswer(world, name, options.lnurlHost);
    },
    lnurlSecond(name: string, query: LnurlQuery) {
      const answer = lnurlCallbackAnswer(world, name, query, options.lnurlHost);
      options.expiry.sweep();
      world.commit();
      return answer;
    },
  };
}

function fundedWallet(world: World) {
  return world.transact(() => {
    const rootSeed = world.random(32);
    const userPk = signUp(world, rootSeed, { partnerPk: null });
    fundNewWallet(world, userPk);
    return {
      rootSeed: hex.encode(rootSeed),
      userPk,
      nodePk: walletKeys(world, userPk).nodePk,
    };
  });
}

function fundNewWallet(world: World, userPk: string): void {
  world.transact(() => {
    fundOnchain(world, userPk, FIRST_FUNDS_MSAT);
    paySpontaneously(world, userPk, { amountMsat: FIRST_FUNDS_MSAT, message: null });
  });
}

interface OutsideOrder extends Omit<OutsideOfferPayment, 'offer'> {
  readonly payable: string;
}

function fundOnchain(world: World, userPk: string, amountMsat: bigint): Payment {
  const address = decodeAddress(nextUnusedAddress(world, userPk, 'segwit'));
  return receiveFromOutside(world, { address, amountMsat, confirmed: true }).payment;
}

/** Pays what the string asks for: an invoice, offer, address, BIP 321 URI, launch link or node_pk. */
function payFromOutside(options: ControlOptions, order: OutsideOrder): Payment {
  const { world } = options;
  const payable = withoutWrapping(order.payable.trim(), options.buyLinkTemplate);
  const lower = payable.toLowerCase();
  if (/^0[23][0-9a-f]{64}$/.test(lower)) {
    const userPk = walletOfNode(world, lower);
    if (userPk === null)
      throw refused(
        'No wallet of this sandbox has that node_pk; take it from node_info of the wallet.',
      );
    return paySpontaneously(world, userPk, { ...order, amountMsat: required(order) });
  }
  if (bolt12PrefixOf(payable) === 'lno') {
    return payOfferFromOutside(world, { ...order, offer: readOffer(payable) });
  }
  if (/^ln(bc|tb)/.test(lower)) {
    return payInvoiceFromOutside(world, { ...order, invoice: readInvoice(payable) });
  }
  return payUriOrAddress(world, payable, order);
}

function withoutWrapping(payable: string, buyLinkTemplate: string): string {
  const [before = '', after = ''] = buyLinkTemplate.split('<invoice>');
  if (payable.startsWith(before) && payable.endsWith(after)) {
    return payable.slice(before.length, payable.length - after.length);
  }
  return payable.replace(/^lightning:/i, '');
}

function payUriOrAddress(world: World, payable: string, order: OutsideOrder): Payment {
  if (!/^bitcoin:/i.test(payable)) {
    const address = readOrReject('payable', () => decodeAddress(payable));
    return payAddress(world, address, required(order));
  }
  const uri = readOrReject('payable', () => decodeBip321(payable));
  const text = uri.offers[0] ?? uri.lightning[0] ?? uri.body ?? uri.addresses[0]?.text;
  if (text === undefined) throw rejected('payable', 'the URI holds no invoice, offer or address');
  const asked = { ...order, amountMsat: order.amountMsat ?? uri.amountMsat };
  if (bolt12PrefixOf(text) === 'lno') {
    return payOfferFromOutside(world, { ...asked, offer: readOffer(text) });
  }
  if (text.toLowerCase().startsWith('ln')) {
    return payInvoiceFromOutside(world, { ...order, invoice: readInvoice(text) });
  }
  const amountMsat = required(asked);
  return payAddress(
    world,
    readOrRefuse(() => decodeAddress(text)),
    amountMsat,
  );
}

function payAddress(world: World, address: DecodedAddress, amountMsat: bigint): Payment {
  return receiveFromOutside(world, { address, amountMsat, confirmed: false }).payment;
}

function readInvoice(payable: string): Bolt11Invoice {
  return readOrReject('payable', () => decodeBolt11(payable));
}

function readOffer(payable: string): Offer {
  return readOrRefuse(() => decodeOffer(payable));
}

function required(order: OutsideOrder): bigint {
  if (order.amountMsat !== null) return order.amountMsat;
  throw rejected('amount', 'say how many satoshis to pay');
}
