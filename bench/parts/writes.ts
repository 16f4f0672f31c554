import { secp256k1 } from '@noble/curves/secp256k1.js';
import { noteRatio, rate } from '../figures.ts';
import { type LoadResult, load } from '../load.ts';
import { measurePairs } from '../pairs.ts';
import {
  type Call,
  CONNECTIONS,
  makePair,
  newWallet,
  post,
  rateOf,
  startSandbox,
  TERMS,
} from '../sandbox.ts';
import { setting } from '../settings.ts';
import { measureWaits } from '../waits.ts';
import { measureWebhooks, startReceiver } from '../webhooks.ts';
import { INVOICE_FLOOR, PAIR_FLOOR, writeFloor } from '../write-floor.ts';
import type { Bench } from './part.ts';

const SIGNATURES = 500;
/** A payment over an offer has more steps, so fewer callers make it. */
const OFFER_CALLERS = 4;

/** Measures what is signed and committed before it is answered, against signatures and commits in a loop. */
export async function measureWrites({ note, folder }: Bench): Promise<void> {
  const ms = setting('BENCH_MS');
  note('one signature', `${signatureMicros().toFixed(0)} µs`);
  const invoiceFloor = writeFloor(folder, ms, INVOICE_FLOOR);
  const pairFloor = writeFloor(folder, ms, PAIR_FLOOR);
  note('one signature and one durable commit, in a loop', rate(invoiceFloor));
  note('one signature, one check and two durable commits, in a loop', rate(pairFloor));

  const receiver = startReceiver();
  const { port, call, stop } = await startSandbox(`${folder}/data`, {
    flags: ['--webhook-url', receiver.url],
  });
  try {
    const payer = await newWallet(call);
    noteRatio(note, 'create_invoice', {
      result: await rateOf(port, post('/v2/node/create_invoice', TERMS)),
      floor: invoiceFloor,
      what: 'the loop',
      target: 'createInvoice',
    });
    note('pay_invoice', rate(await payRate(port, call, payer)));
    const makeOne = async () => void (await makePair(call, payer));
    await measurePairs({ makePair: makeOne, ms, floor: pairFloor }, note);
    const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
    const toOffer = post('/v2/node/pay_offer', { offer, amount: '1' }, payer);
    note('pay_offer', rate(await rateOf(port, toOffer, OFFER_CALLERS)));
    await measureWebhooks({ call, makePair: makeOne, receiver }, note);
    await measureWaits(port, call, note);
  } finally {
    await stop();
    await receiver.stop();
  }
}

/** Measures payments of invoices that were made before the clock starts. */
async function payRate(port: number, call: Call, payer: string): Promise<LoadResult> {
  const ms = setting('BENCH_MS');
  const invoices: string[] = [];
  const makeOne = async () => {
    const { invoice = '' } = await call('POST', '/v2/node/create_invoice', TERMS);
    invoices.push(invoice);
  };
  while (invoices.length < ms) await Promise.all(Array.from({ length: CONNECTIONS }, makeOne));
  const next = () => post('/v2/node/pay_invoice', { invoice: invoices.pop() }, payer);
  return load({ port, connections: CONNECTIONS, ms, next });
}

function signatureMicros(): number {
  const digest = new Uint8Array(32).fill(7);
  const startedAt = performance.now();
  for (let at = 0; at < SIGNATURES; at++) secp256k1.sign(digest, digest, { prehash: false });
  return ((performance.now() - startedAt) / SIGNATURES) * 1000;
}
