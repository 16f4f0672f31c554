import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { PaymentJson } from '../../src/model/payment.ts';
import { request } from '../conformance/request.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { answerBytes, longTxtData, questionOf, TYPES } from '../support/dns-writer.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { openOutsideService, TEST_CERTIFICATE } from '../support/outside-service.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const LIMIT_MS = 120_000;
const PAYMENT_TERMS = {
  tag: 'payRequest',
  minSendable: 1000,
  maxSendable: 500_000,
  metadata: '[["text/plain","Shop"]]',
};
const VOUCHER = { tag: 'withdrawRequest', k1: 'k1', minWithdrawable: 1000, maxWithdrawable: 9000 };

/** The answers of the LNURL service, by path. */
const answers = new Map<string, (url: URL) => unknown>();
/** The TXT records of the DNS, none of them signed. */
const records = new Map<string, string>();
const service = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch({ url: text }) {
    const url = new URL(text);
    return Response.json(answers.get(url.pathname)?.(url) ?? null);
  },
});
const resolver = openOutsideService((asked) => {
  const question = questionOf(asked);
  const text = question.type === TYPES.TXT ? records.get(question.name) : undefined;
  const { name, type } = question;
  const answer = text === undefined ? [] : [{ name, type, ttl: 60, data: longTxtData(text) }];
  // The answer has the AD flag, by which resolvers say that they validated it.
  return new Response(new Uint8Array(answerBytes(question, answer, { flags: 0x81a0 })), {
    headers: { 'content-type': 'application/dns-message' },
  });
});
const folder = temporaryFolder('hostile');
let sidecar: DevSidecar;

beforeAll(async () => {
  const certificate = join(folder, 'resolver.pem');
  writeFileSync(certificate, TEST_CERTIFICATE);
  sidecar = await startDevSidecar({
    dataDir: join(folder, 'data'),
    port: freePort(),
    env: {
      SERVICE_DOH_URL: `https://127.0.0.1:${resolver.port}/dns-query`,
      NODE_EXTRA_CA_CERTS: certificate,
    },
  });
}, LIMIT_MS);
afterAll(async () => {
  await sidecar?.stop();
  await Promise.all([service.stop(true), resolver.close()]);
  removeFolder(folder);
}, LIMIT_MS);

const lnurl = (path: string) => `lnurlp://127.0.0.1:${service.port}${path}`;
const callback = (path: string) => `http://127.0.0.1:${service.port}${path}`;
const call = (operation: string, body: object) =>
  request(sidecar.baseUrl, 'POST', `/v2/node/${operation}`, { body });
const analyze = (text: string) =>
  request(sidecar.baseUrl, 'GET', '/v2/node/analyze', { query: { payment_string: text } });

async function payments(direction: string): Promise<PaymentJson[]> {
  const synced = await request(sidecar.baseUrl, 'PUT', '/v2/node/sync_payments', { body: {} });
  expect(synced.status).toBe(200);
  const query = { filter: 'all', direction };
  const { body } = await request(sidecar.baseUrl, 'GET', '/v2/node/list_payments', { query });
  return body.payments;
}

function expectServiceError(answer: Awaited<ReturnType<typeof call>>, data: object): void {
  expect(answer).toMatchObject({ status: 502, body: { code: 113, data } });
}

describe('a wallet that meets a service that answers wrongly', () => {
  test(
    'says error 113 in analyze, pay, pay_lnurl and withdraw_lnurl, and stays well',
    async () => {
      const replies = [
        { ...PAYMENT_TERMS, callback: 'https://user:password@shop.example/' },
        { ...PAYMENT_TERMS, callback: callback('/cb'), metadata: '\ud800' },
        { ...PAYMENT_TERMS, callback: callback('/cb'), minSendable: { toString: 1 } },
        { ...VOUCHER, callback: callback('/cb'), k1: '\ud800' },
        { ...VOUCHER, callback: callback('/cb'), defaultDescription: { toString: 1 } },
        { tag: '\ud800' },
        null,
      ];
      for (const reply of replies) {
        answers.set('/wrong', () => reply);
        const payable = lnurl('/wrong');
        const unusable = { problem: 'unusable_answer' };
        expectServiceError(await analyze(payable), unusable);
        expectServiceError(await call('pay', { payable, amount: '5' }), unusable);
        expectServiceError(await call('pay_lnurl', { lnurl: payable, amount: '5' }), unusable);
        expectServiceError(await call('withdraw_lnurl', { lnurl: payable }), unusable);
      }
      answers.set('/refusing', () => ({ status: 'ERROR', reason: { toString: 1 } }));
      expectServiceError(await analyze(lnurl('/refusing')), { problem: 'refused' });
      expectServiceError(await analyze('lnurlp://10.0.0.1/x'), { problem: 'not_allowed' });
      expectServiceError(await analyze(`lnurlp://127.0.0.1:${freePort()}/x`), {
        problem: 'unreachable',
      });
      expect(await request(sidecar.baseUrl, 'GET', '/v2/node/node_info', {})).toMatchObject({
        status: 200,
      });
    },
    LIMIT_MS,
  );

  test(
    'pays nothing for an answer to the callback that is no invoice',
    async () => {
      answers.set('/pay', () => ({ ...PAYMENT_TERMS, callback: callback('/pay/cb') }));
      for (const reply of [{ pr: '\ud800' }, { pr: { toString: 1 } }, { pr: 'lnbcrt1' }, []]) {
        answers.set('/pay/cb', () => reply);
        expectServiceError(await call('pay_lnurl', { lnurl: lnurl('/pay'), amount: '5' }), {
          problem: 'unusable_answer',
        });
      }
      expect(await payments('outbound')).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'shows its description printable and bounded, and withdraws with one of 5,000 characters',
    async () => {
      const nasty = `Refund\u202e\u0000\ud800${'ä'.repeat(5_000)}`;
      answers.set('/voucher', () => ({
        ...VOUCHER,
        defaultDescription: nasty,
        callback: callback('/voucher/cb'),
      }));
      answers.set('/voucher/cb', (url) => {
        const body = { payable: url.searchParams.get('pr') };
        void request(sidecar.baseUrl, 'POST', '/sandbox/pay', { body });
        return { status: 'OK' };
      });
      const { body } = await analyze(lnurl('/voucher'));
      expect(body.claimables[0].description).toMatch(/^Refund ä+…$/);
      const withdrawn = await call('withdraw_lnurl', { lnurl: lnurl('/voucher') });
      expect(withdrawn).toMatchObject({ status: 200, body: { status: 'completed', amount: '9' } });
      const { description } = decodeBolt11(withdrawn.body.invoice);
      expect(description).toBe(body.claimables[0].description);
      expect(Buffer.byteLength(description ?? '')).toBeLessThanOrEqual(639);
    },
    LIMIT_MS,
  );

  test(
    'cancels the invoice of a withdrawal that the service refuses or must not be asked for',
    async () => {
      const cases = [
        [{ status: 'ERROR', reason: 'used' }, callback('/v/cb'), 'refused'],
        [{ status: 'OK' }, 'http://10.0.0.1/cb', 'not_allowed'],
      ] as const;
      for (const [reply, target, problem] of cases) {
        const before = new Set((await payments('inbound')).map(({ index }) => index));
        answers.set('/v', () => ({ ...VOUCHER, callback: target }));
        answers.set('/v/cb', () => reply);
        expectServiceError(await call('withdraw_lnurl', { lnurl: lnurl('/v') }), { problem });
        const made = (await payments('inbound')).filter(({ index }) => !before.has(index));
        expect(made).toMatchObject([{ status: 'failed', status_msg: 'canceled' }]);
      }
    },
    LIMIT_MS,
  );
});

describe('a name', () => {
  test(
    'whose record is not signed is error 113 whatever the resolver says, and one without a record is not found',
    async () => {
      records.set('bad.user._bitcoin-payment.example.com', 'bitcoin:?lno=x');
      const answer = await analyze('₿bad@example.com');
      expectServiceError(answer, { problem: 'unusable_answer' });
      expect(answer.body.msg).toMatch(/not secured by DNSSEC/);
      expect(await analyze('₿none@example.com')).toMatchObject({
        status: 404,
        body: { code: 107 },
      });
    },
    LIMIT_MS,
  );
});
