import { decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { paymentHashOf } from '../../../src/codecs/preimage.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { type Answer, type Body, CallFailed } from '../../support/requests.ts';
import { waitUntil } from '../../support/until.ts';
import { bodyOf, type Client, isEnded, type LdkKillWorld } from './world.ts';

/** One act that a kill meets. It may be asked for again under its key, and is the same act then. */
export interface Act {
  /** Asks for it, or has somebody else do what the wallet meets. Throws where that cannot be asked now. */
  readonly ask: () => Promise<unknown>;
  /**
   * Does what others have to do so that it ends, as far as that can be done now. It is called again and again.
   * Returns whether nothing is left to do.
   */
  readonly goOn?: () => Promise<boolean>;
  /** Checks what became of it, once nothing is under way. Returns it in a word. */
  readonly became: () => Promise<string>;
}

/** What is killed in the middle of. */
export type Kind = (world: LdkKillWorld, draw: Draw) => Promise<Act>;

/** Draws for one act. */
export interface Draw {
  readonly key: string;
  readonly random: () => number;
}

/** Amounts in satoshis: without an output of their own in the channel, and with one. */
const AMOUNTS = ['300', '2000', '12000'];
/** How much more than the channels can receive is asked for, so that the LSP opens one. */
const MORE_SAT = 50_000;
/**
 * An LSP that runs ldk-node 0.7.1 opens no channel later to a wallet that was away when the payment came, and keeps the
 * payment until it expires. And an invoice names one channel, which may be closed meanwhile. It is canceled then.
 */
const PAID_WITHIN_MS = 20_000;
const CHANNEL_SAT = '150000';
/** The LSP sells no channel for more, and each that it opened makes the next one larger. */
const MOST_AT_LSP_SAT = 10_000_000;

const oneOf = <T>(list: readonly T[], { random }: Draw): T =>
  list[Math.floor(random() * list.length)] as T;
const msatOf = (sats: string) => BigInt(sats) * 1000n;

function post(world: LdkKillWorld, path: string, body: Body, key: string, who?: Client) {
  return world.sidecar.call('POST', `/v2/node/${path}`, {
    body,
    headers: { 'Idempotency-Key': key, Prefer: 'respond-async' },
    credentials: who?.credentials,
  });
}

const payment = (world: LdkKillWorld, index: string): Promise<Body> =>
  world.sidecar.get('/v2/node/payment', { index });

/** A payment that a client with a budget makes under a key: one, whose end is a word. */
function paying(
  world: LdkKillWorld,
  { key }: Draw,
  path: string,
  body: Body,
): Pick<Act, 'ask' | 'became'> & { readonly isOver: () => Promise<boolean> } {
  const indexes = new Set<string>();
  return {
    async isOver() {
      const [index] = indexes;
      return index !== undefined && isEnded(await payment(world, index));
    },
    async ask() {
      const { index } = bodyOf(await post(world, path, body, key, world.payments));
      indexes.add(index);
    },
    async became() {
      const [index, ...others] = indexes;
      if (index === undefined || others.length > 0) {
        throw new Error(`${path} with the key ${key} made ${[...indexes].join(' and ')}`);
      }
      const shown = await payment(world, index);
      const { status, status_msg } = shown;
      if (!isEnded(shown)) throw new Error(`${index} is stuck: ${status_msg}`);
      return status === 'completed' ? status : `${status}: ${status_msg}`;
    },
  };
}

const payee = (world: LdkKillWorld, draw: Draw) => (draw.random() < 0.5 ? world.lsp : world.payer);

const payInvoice: Kind = async (world, draw) => {
  const amountMsat = msatOf(oneOf(AMOUNTS, draw));
  const { invoice } = await payee(world, draw).invoice({ amountMsat });
  return paying(world, draw, 'pay_invoice', { invoice });
};

/** The payee holds the payment, and then takes it or gives it back. */
const payHeld: Kind = async (world, draw) => {
  const to = payee(world, draw);
  const made = await to.invoice({ amountMsat: msatOf(oneOf(AMOUNTS, draw)), holds: true });
  const takes = draw.random() < 0.6;
  const act = paying(world, draw, 'pay_invoice', { invoice: made.invoice });
  return {
    ...act,
    async goOn() {
      if (await to.isHolding(made.hash)) {
        await (takes ? to.settle(made.hash) : to.cancel(made.hash));
      }
      return act.isOver();
    },
  };
};

const payOffer: Kind = async (world, draw) => {
  // LDK makes no offer where it has several peers and none is announced, which is how the LSP stands.
  const offer = await world.payer.offer({ amountMsat: null });
  const act = paying(world, draw, 'pay_offer', { offer, amount: oneOf(AMOUNTS, draw) });
  const { offerId } = decodeOffer(offer);
  return {
    ...act,
    async became() {
      const word = await act.became();
      const arrived = await world.payer.receivedOn(offerId);
      if (arrived !== (word === 'completed' ? 1 : 0))
        throw new Error(`${word}, arrived ${arrived}`);
      return word;
    },
  };
};

const paySpontaneous: Kind = async (world, draw) =>
  paying(world, draw, 'pay_spontaneous', {
    ...{ node_pk: world.lsp.nodePk, amount: oneOf(AMOUNTS, draw) },
  });

async function foreignAddress(world: LdkKillWorld): Promise<string> {
  return (await world.lsp.call<{ address: string }>('address', {}, shapes().address)).address;
}

const payOnchain: Kind = async (world, draw) => {
  const body = { address: await foreignAddress(world), amount: '20000' };
  return paying(world, draw, 'pay_onchain', body);
};

/** The fee of a send is raised, once. */
const bump: Kind = async (world, draw) => {
  const body = { address: await foreignAddress(world), amount: '30000', priority: 'background' };
  const { key } = draw;
  const sent = bodyOf(await post(world, 'pay_onchain', body, `${key}-send`, world.payments));
  const order = { index: sent.index, priority: 'high' };
  return {
    ask: async () => {
      const answer = await post(world, 'bump_fee', order, key, world.fees);
      // A block may have it before the repeat, which then has nothing to raise.
      return isRefusal(answer) ? answer : bodyOf(answer);
    },
    async became() {
      const { status } = await payment(world, sent.index);
      if (status !== 'completed') throw new Error(`the send ${sent.index} is ${status}`);
      return status;
    },
  };
};

const REFUSED = 106;
const isRefusal = ({ body }: Answer) => body.code === REFUSED && body.data?.sent !== undefined;

/** An invoice of the wallet is made under a key, and paid: the kill is at one of the two. */
function receiving(options: { readonly isJit: boolean }): Kind {
  return async (world, draw) => {
    const moreSat = (await receivableSat(world)) + MORE_SAT;
    const isJit = options.isJit && moreSat <= MOST_AT_LSP_SAT;
    const by = isJit || draw.random() < 0.5 ? world.payer : world.lsp;
    const amount = isJit ? `${moreSat}` : oneOf(AMOUNTS, draw);
    let made: Body = null;
    const create = async () => {
      const again = bodyOf(await post(world, 'create_invoice', { amount }, draw.key));
      if (made !== null && made.invoice !== again.invoice) throw new Error('two invoices of a key');
      made = again;
    };
    const pay = () => world.pays(by, made.invoice);
    const isKilledAtPayment = draw.random() < 0.6;
    if (isKilledAtPayment) await create();
    let waitsSinceMs: number | null = null;
    return {
      ask: isKilledAtPayment ? pay : create,
      async goOn() {
        if (made === null) return false;
        if ((await payment(world, made.index)).status !== 'pending') return true;
        waitsSinceMs ??= performance.now();
        if (performance.now() - waitsSinceMs > PAID_WITHIN_MS) {
          await post(world, 'cancel_payment', { index: made.index }, `${draw.key}-cancel`);
        } else await pay();
        return false;
      },
      async became() {
        const { status, status_msg, fees } = await payment(world, made.index);
        if (status === 'pending') throw new Error(`${made.index} is stuck: ${status_msg}`);
        if (isJit && status === 'completed' && Number(fees) === 0) return 'without a fee';
        return status;
      },
    };
  };
}

async function receivableSat(world: LdkKillWorld): Promise<number> {
  const { channels } = await world.sidecar.get('/v2/node/list_channels');
  return channels.reduce(
    (sum: number, one: Body) => sum + Math.ceil(Number(one.inbound_capacity)),
    0,
  );
}

/** A hold invoice of the wallet is paid, and then settled or canceled under a key: the kill is at one of the two. */
const hold: Kind = async (world, draw) => {
  const { key } = draw;
  const preimage = randomHex(32);
  const terms = { amount: oneOf(AMOUNTS, draw), payment_hash: paymentHashOf(preimage) };
  const { index, invoice } = bodyOf(await post(world, 'create_invoice', terms, `${key}-made`));
  const takes = draw.random() < 0.6;
  const isHeld = async () => (await payment(world, index)).status_msg === 'held';
  const pay = () => world.pays(world.lsp, invoice);
  const end = async () => {
    const answer = await (takes
      ? post(world, 'settle_invoice', { index, preimage }, key)
      : post(world, 'cancel_payment', { index }, key));
    // LDK gives back by itself what was held for too long.
    return isRefusal(answer) ? answer : bodyOf(answer);
  };
  const isKilledAtPayment = draw.random() < 0.3;
  if (!isKilledAtPayment) {
    await waitUntil('it is held', async () => {
      if (await isHeld()) return true;
      await pay();
      return false;
    });
  }
  return {
    ask: isKilledAtPayment ? pay : end,
    async goOn() {
      const { status, status_msg } = await payment(world, index);
      if (status !== 'pending') return true;
      if (status_msg === 'held') await end();
      else await pay();
      return false;
    },
    async became() {
      const { status, status_msg } = await payment(world, index);
      if (status === 'pending') throw new Error(`${index} is stuck: ${status_msg}`);
      return `${takes ? 'settle' : 'cancel'}: ${status}`;
    },
  };
};

const channelsOf = async (world: LdkKillWorld): Promise<Body[]> =>
  (await world.sidecar.get('/v2/node/list_channels')).channels;

const open: Kind = async (world, draw) => {
  const body = { value: CHANNEL_SAT, user_channel_id: randomHex(16) };
  const mine = async () =>
    (await channelsOf(world)).filter((one) => one.user_channel_id === body.user_channel_id);
  let id = '';
  return {
    async ask() {
      id = bodyOf(await post(world, 'open_channel', body, draw.key, world.fees)).channel_id;
    },
    async became() {
      if (world.forced().has(id)) return 'closed by force';
      if (world.closedIds.has(body.user_channel_id)) return 'closed by another act';
      const list = await mine();
      if (list.length !== 1) throw new Error(`${list.length} channels of one id`);
      if (!list[0]?.is_usable) throw new Error('the channel cannot be used');
      return 'open';
    },
  };
};

/** A channel that came later than the first ones is closed, or one that is opened for that. */
const close: Kind = async (world, draw) => {
  const channel = (await channelsOf(world)).find(
    (one) => one.is_usable && !world.keptChannels.has(one.channel_id),
  );
  if (channel === undefined) return open(world, draw);
  const body = { channel_id: channel.channel_id };
  world.keptChannels.add(body.channel_id);
  world.closedIds.add(channel.user_channel_id);
  return {
    ask: async () => bodyOf(await post(world, 'close_channel', body, draw.key, world.fees)),
    async became() {
      const left = (await channelsOf(world)).filter((one) => one.channel_id === body.channel_id);
      if (left.length > 0) throw new Error('the channel is open');
      return 'closed';
    },
  };
};

/** What is killed in the middle of, by name. */
export const KINDS: Readonly<Record<string, Kind>> = {
  invoice: payInvoice,
  'held invoice': payHeld,
  offer: payOffer,
  keysend: paySpontaneous,
  'on chain': payOnchain,
  bump,
  receive: receiving({ isJit: false }),
  'JIT receive': receiving({ isJit: true }),
  hold,
  open,
  close,
};

/** Whether the answer of a call says that it may be tried again. */
export function mayTryAgain(error: unknown): boolean {
  return !(error instanceof CallFailed) || error.status >= 500 || error.body.code === REFUSED;
}
