import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { parseWebhookSecret } from '../../src/model/webhooks/webhook-secret.ts';
import { deliverySigner } from '../../src/webhooks/sign.ts';
import vectors from '../vectors/standard-webhooks.json';

describe('every signature of the Standard Webhooks tests is made', () => {
  for (const vector of vectors.sign) {
    test(vector.id, () => {
      const headers = deliverySigner(secretOf(vector.secret))(
        vector.msg_id,
        vector.timestamp * 1000,
        vector.payload,
      );
      expect(headers['webhook-signature']).toBe(vector.signature);
      expect(headers['webhook-timestamp']).toBe(String(vector.timestamp));
      expect(headers['webhook-id']).toBe(vector.msg_id);
    });
  }
});

test('what is signed now verifies with the library of the standard', () => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  const body = '{"type":"payment.finalized"}';
  const headers = deliverySigner(secret)('msg_1', Date.now(), body);
  expect(new Webhook(secret).verify(body, { ...headers })).toEqual({ type: 'payment.finalized' });
  expect(() => new Webhook(secret).verify(`${body} `, { ...headers })).toThrow(/signature/i);
});

test('without a secret no header is added', () => {
  expect(deliverySigner(null)('msg_1', 0, '{}')).toEqual({});
});

describe('secrets are 24 to 64 bytes of base64, with or without whsec_', () => {
  const bytes = (count: number) => Buffer.alloc(count, 1).toString('base64');
  for (const good of [bytes(24), bytes(64), `whsec_${bytes(32)}`]) {
    test(`takes ${good.length} characters`, () =>
      expect(parseWebhookSecret(good)).toHaveProperty('value'));
  }
  for (const bad of [bytes(23), bytes(65), '', 'whsec_', 'not base64!', 'whsec_whsec_AAAA']) {
    test(`finds ${JSON.stringify(bad)} invalid`, () =>
      expect(parseWebhookSecret(bad)).toHaveProperty('problem'));
  }
});

function secretOf(text: string): string {
  const parsed = parseWebhookSecret(text);
  if ('value' in parsed) return parsed.value;
  throw new Error(parsed.problem);
}
