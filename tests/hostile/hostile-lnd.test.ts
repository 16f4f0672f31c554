import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type LndRest, LndRestError, lndRest } from '../interop/harness/lnd-rest.ts';
import { until } from '../support/until.ts';
import { selfSignedCertificate } from './certificates.ts';
import {
  answers,
  breaksOff,
  cuts,
  endlessBody,
  html,
  redirects,
  refuses,
  silent,
  trickle,
} from './hostile-lnd/bytes.ts';
import { claimsIdentity, paysAmount, settlesUnpaid, succeedsFalsely } from './hostile-lnd/lies.ts';
import { type HostileLnd, startHostileLnd } from './hostile-lnd.ts';
import { type NodeFiles, nodeFiles } from './node-files.ts';
import { startThief } from './thief.ts';

const certificate = selfSignedCertificate();
let hostile: HostileLnd;
let files: NodeFiles;
let lnd: LndRest;

beforeAll(async () => {
  hostile = await startHostileLnd({ certificate });
  files = nodeFiles(hostile);
  lnd = lndRest(files);
});
afterAll(async () => {
  await hostile.stop();
  files[Symbol.dispose]();
});

const INFO = /GetInfo/;
const info = (signal?: AbortSignal) =>
  lnd.rest<Record<string, unknown>>('GET', '/v1/getinfo', undefined, signal ? { signal } : {});
const outcome = async (signal?: AbortSignal): Promise<unknown> => {
  try {
    return await info(signal);
  } catch (error) {
    return error instanceof LndRestError ? error.status : 'broken';
  }
};

test('it lies about identity, invoices, amounts and payments in the right shapes', async () => {
  hostile.misbehave(claimsIdentity(`02${'22'.repeat(32)}`));
  expect((await info()).identity_pubkey).not.toBe(hostile.pubkey);
  const { hash } = hostile.invoices.add({ valueMsat: 9000n });
  const look = () => lnd.rest<Record<string, string>>('GET', `/v1/invoice/${hash}`);
  hostile.misbehave(settlesUnpaid());
  expect(await look()).toMatchObject({ state: 'SETTLED', amt_paid_msat: '9000' });
  expect(hostile.misdone).toBe(1);
  const { invoices } = await lnd.rest<{ invoices: unknown[] }>('GET', '/v1/invoices');
  expect(invoices[0]).toMatchObject({ state: 'SETTLED' });
  hostile.misbehave(paysAmount(1n));
  expect(await look()).toMatchObject({ state: 'OPEN', amt_paid_msat: '0' });
  hostile.paysInvoice(hash);
  expect(await look()).toMatchObject({ state: 'SETTLED', amt_paid_msat: '1' });
  const paid = hostile.payments.foreignInvoice({ amountMsat: 1000n });
  hostile.payments.decide(paid.hash, { end: 'hold' });
  hostile.misbehave(succeedsFalsely());
  const stream = lnd.stream('POST', '/v2/router/send', { payment_request: paid.invoice });
  expect((await stream.next()).value).toMatchObject({ status: 'SUCCEEDED' });
  await stream.return();
});

test('it breaks off, cuts, refuses, shows pages and answers wrong shapes', async () => {
  hostile.misbehave(breaksOff(INFO));
  expect(await outcome()).toBe('broken');
  hostile.misbehave(cuts(INFO));
  expect(await outcome()).toBe('broken');
  hostile.misbehave(html(502, INFO));
  expect(await outcome()).toBe(502);
  hostile.misbehave(refuses('the macaroon is fine, the disk is full', INFO));
  expect(await outcome()).toBe(500);
  hostile.misbehave(answers([1, 2], INFO));
  expect(await outcome()).toEqual([1, 2]);
});

/** What a caller sees who goes away some time after this has happened. */
async function outcomeUntil(hasHappened: () => boolean): Promise<unknown> {
  const gone = new AbortController();
  const seen = outcome(gone.signal);
  await until(hasHappened);
  AbortSignal.timeout(200).onabort = () => gone.abort();
  return seen;
}

test('it stays silent, trickles and floods for as long as it is listened to', async () => {
  for (const misdeed of [silent(INFO), trickle(INFO, 5)]) {
    hostile.misbehave(misdeed);
    expect(await outcomeUntil(() => hostile.misdone > 0)).toBe('broken');
    expect(hostile.misdone).toBe(1);
  }
  const flood = endlessBody(INFO);
  hostile.misbehave(flood);
  expect(await outcomeUntil(() => flood.largest() > 1_000_000)).toBe('broken');
  await until(() => flood.ended() === 1);
});

test('it redirects to a thief, who hears what follows', async () => {
  const thief = await startThief(certificate);
  hostile.misbehave(redirects(`${thief.url}/stolen`, 307));
  await outcome();
  expect(thief.heard.join()).toContain(hostile.adminMacaroon);
  await thief.stop();
});
