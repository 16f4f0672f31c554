import { describe, expect, test } from 'bun:test';
import {
  type Amount,
  type ClientBudgetLow,
  type PaymentApprovalRequested,
  type PaymentFinalized,
  type PaymentHeld,
  verifyWebhook,
  type WebhookTest,
  WebhookVerificationError,
} from '../../src/client/index.ts';
import type { TestPayload, WebhookPayload } from '../../src/model/webhooks/delivery.ts';
import { deliverySigner } from '../../src/webhooks/sign.ts';
import { rejection, throwing } from '../support/rejection.ts';
import vectors from '../vectors/standard-webhooks.json';

type Members<T> = { readonly [Name in keyof T]-?: true };
type Headers = Readonly<Record<string, string>>;

/** The client's type with amounts as they are on the wire. */
type AsText<T> = T extends Amount
  ? string
  : T extends object
    ? { readonly [Name in keyof T]: AsText<T[Name]> }
    : T;

/** Compiles only if the sidecar's webhooks fit the client's type. */
type Sent = WebhookPayload | TestPayload;
type Typed =
  | PaymentFinalized
  | PaymentHeld
  | PaymentApprovalRequested
  | ClientBudgetLow
  | WebhookTest;
const asSent = (payload: Sent): AsText<Typed> => payload;
const asTyped = (members: Members<Typed>): Members<Sent> => members;

describe('the cases of the Standard Webhooks tests', () => {
  for (const vector of vectors.verify) {
    test(`${vector.id} is ${vector.accept ? 'accepted' : 'invalid'}`, async () => {
      const nowMs = vector.now * 1000;
      const headers = vector.headers as Headers;
      const verified = verifyWebhook(vector.payload, headers, vector.secret, { nowMs });
      if (vector.accept) expect((await verified) as unknown).toEqual(JSON.parse(vector.payload));
      else expect(await rejection(verified)).toBeInstanceOf(WebhookVerificationError);
    });
  }
  for (const { id, secret } of vectors.secrets) {
    test(`${id} is invalid as a secret`, async () => {
      const [good] = vectors.verify;
      const nowMs = (good?.now ?? 0) * 1000;
      const verified = verifyWebhook('{}', (good?.headers ?? {}) as Headers, secret, { nowMs });
      expect(await throwing(verified)).toThrow('The webhook secret is not base64');
    });
  }
});

describe('what the sidecar signs', () => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  const body = JSON.stringify({ type: 'payment.finalized', payer_name: 'Zoë ₿' });
  const sentAtMs = 1_764_000_000_000;
  const headers = deliverySigner(secret)('msg_1', sentAtMs, body);
  const at = (secs: number) => ({ nowMs: sentAtMs + secs * 1000 });

  test('verifies as text and as bytes, with headers of fetch and of Node', async () => {
    const shapes = [headers, new Headers(headers), lists(headers)];
    for (const shape of shapes) {
      for (const raw of [body, new TextEncoder().encode(body)]) {
        const told = await verifyWebhook(raw, shape, secret, at(0));
        expect(told.type === 'payment.finalized' && told.payer_name).toBe('Zoë ₿');
      }
    }
  });

  test('is invalid when a byte of the body, the id or the time has changed', async () => {
    const other = Buffer.alloc(32, 8).toString('base64');
    const changes = [
      () => verifyWebhook(body.replace('Z', 'z'), headers, secret, at(0)),
      () => verifyWebhook(body, { ...headers, 'webhook-id': 'msg_2' }, secret, at(0)),
      () => verifyWebhook(body, { ...headers, 'webhook-timestamp': '1764000001' }, secret, at(0)),
      () => verifyWebhook(body, headers, other, at(0)),
    ];
    for (const verify of changes) {
      expect(await throwing(verify())).toThrow('No signature of the webhook matches');
    }
  });

  test('is invalid when its time differs from now by more than the tolerance', async () => {
    expect(await throwing(verifyWebhook(body, headers, secret, at(301)))).toThrow(
      'too old or too new',
    );
    expect(await throwing(verifyWebhook(body, headers, secret, at(-301)))).toThrow(
      'too old or too new',
    );
    expect(await throwing(verifyWebhook(body, headers, secret))).toThrow('too old or too new');
    expect(await verifyWebhook(body, headers, secret, at(300))).toBeObject();
    const patient = { ...at(3600), toleranceSecs: 3600 };
    expect(await verifyWebhook(body, headers, secret, patient)).toBeObject();
  });

  test('is invalid with the problem by name, the signature before the age', async () => {
    const { 'webhook-id': _, ...nameless } = headers;
    const text = 'no JSON';
    const signedText = deliverySigner(secret)('msg_1', sentAtMs, text);
    const refused: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['header', () => verifyWebhook(body, nameless, secret, at(0))],
      [
        'timestamp',
        () => verifyWebhook(body, { ...headers, 'webhook-timestamp': 'now' }, secret, at(0)),
      ],
      ['signature', () => verifyWebhook(`${body} `, headers, secret, at(301))],
      ['age', () => verifyWebhook(body, headers, secret, at(301))],
      ['body', () => verifyWebhook(text, signedText, secret, at(0))],
    ];
    for (const [problem, verify] of refused) {
      expect(await rejection(verify())).toMatchObject({
        name: 'WebhookVerificationError',
        problem,
      });
    }
  });

  test('has no member that the type of the client lacks', () => {
    expect([asSent, asTyped]).toBeArrayOfSize(2);
  });
});

/** Returns the headers as Node gives them, among other headers. */
function lists(headers: Headers): Readonly<Record<string, string | string[] | undefined>> {
  return { ...headers, 'set-cookie': ['a', 'b'], via: undefined };
}
