import { expect, test } from 'bun:test';
import { diceOf } from '../../fuzz/dice.ts';
import { schemaProblem } from '../../fuzz/json-schema.ts';
import { operationsOf } from '../../fuzz/operations.ts';
import { judge } from '../../fuzz/oracle.ts';
import { openPool } from '../../fuzz/pool.ts';
import type { FuzzRequest } from '../../fuzz/requests.ts';
import { asksStrangers } from '../../fuzz/strangers.ts';
import { nastyJson } from '../../fuzz/values.ts';
import type { WireOutcome } from '../../fuzz/wire.ts';

const document = {
  paths: {
    '/a': {
      get: {
        tags: ['node'],
        responses: {
          200: {
            description: 'Done.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: { n: { type: 'integer', minimum: 0 } },
                  required: ['n'],
                  additionalProperties: false,
                },
              },
            },
          },
          400: { description: 'Rejected.', 'x-error-codes': [7, 106], content: {} },
          413: { $ref: '#/components/responses/TooLarge' },
          503: { description: 'Unreachable.', 'x-error-codes': [3], content: {} },
        },
      },
    },
  },
  components: {
    responses: { TooLarge: { description: 'Too large.', 'x-error-codes': [7], content: {} } },
  },
};
const request: FuzzRequest = {
  method: 'GET',
  target: '/a?x=1',
  headers: [],
  body: null,
  chunked: false,
  isHttp: true,
};
const options = {
  document,
  operations: operationsOf(document),
  markers: [{ name: 'the seed', text: 's3cr3t' }],
};

function answer(status: number, body: unknown, contentType = 'application/json'): WireOutcome {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = new Map([['content-type', contentType]]);
  return { kind: 'answer', status, headers, head: '', body: Buffer.from(text) };
}
const error = (code: number, msg = 'No.') => ({ code, msg, data: null, sensitive: false });
const verdict = (outcome: WireOutcome, sent: FuzzRequest = request) =>
  judge(options, sent, outcome);

test('documented answers and errors pass', () => {
  expect(verdict(answer(200, { n: 1 }))).toBeNull();
  expect(verdict(answer(400, error(106)))).toBeNull();
  expect(verdict(answer(413, error(7)))).toBeNull();
  expect(verdict(answer(503, error(3)))).toBeNull();
});

test('whatever breaks a rule is named', () => {
  expect(verdict({ kind: 'hang' })).toBe('no answer within the time');
  expect(verdict({ kind: 'closed' })).toBe('closed without an answer');
  expect(verdict(answer(200, { n: -1 }))).toBe('$.n is too small');
  expect(verdict(answer(200, { n: 1, more: 1 }))).toBe('$ has the undocumented member more');
  expect(verdict(answer(200, {}))).toBe('$ lacks n');
  expect(verdict(answer(200, '{'))).toBe('answers something that is not JSON');
  expect(verdict(answer(200, { n: 1 }, 'text/html'))).toBe(
    'answers text/html and documents application/json',
  );
  expect(verdict(answer(204, ''))).toBe('answers 204, which is not documented');
  expect(verdict(answer(405, error(7)))).toBe('does not answer a documented method');
  expect(verdict(answer(415, error(7)))).toBe('error 7 with status 415 is not documented here');
  expect(verdict(answer(500, error(6)))).toBe('internal error');
  expect(verdict(answer(500, 'oops'))).toBe('answers 500 with something that is not JSON');
  expect(verdict(answer(503, error(8)))).toBe('error 8 with status 503 is not documented here');
  expect(verdict(answer(400, error(3)))).toBe('error 3 with status 400 is not in the table');
  expect(verdict(answer(400, { ...error(7), stack: '' }))).toBe('the error has other members');
  expect(verdict(answer(400, error(7, '')))).toBe('the error has no sentence');
  expect(verdict(answer(400, error(7, 'bad: s3cr3t')))).toBe('shows the seed');
});

test('a path of two slashes is no endpoint, and a page with a slash leads to the page', () => {
  const sentTo = (target: string) => ({ ...request, target });
  const redirect = (location: string): WireOutcome => ({
    kind: 'answer',
    status: 302,
    headers: new Map([['location', location]]),
    head: '',
    body: Buffer.alloc(0),
  });
  expect(verdict(answer(404, error(107)), sentTo('//a'))).toBeNull();
  expect(verdict(redirect('/a'), sentTo('/a/?x=1'))).toBeNull();
  expect(verdict(redirect('/a'), sentTo('/b/'))).toBe('leads elsewhere');
  expect(verdict(redirect('/b'), sentTo('/b/'))).toBe('leads elsewhere');
  expect(verdict(redirect('//a'), sentTo('/a/'))).toBe('leads elsewhere');
});

test('a schema keyword that is not known is not passed over', () => {
  expect(() => schemaProblem(1, { multipleOf: 2 }, {})).toThrow('multipleOf is not known here');
});

test('requests that would make the wallet ask a server of others are not sent', () => {
  const json = (value: unknown) => ({
    target: '/',
    body: new TextEncoder().encode(JSON.stringify(value)),
  });
  expect(asksStrangers(json({ lnurl: 'lnurlp://example.com/x' }))).toBe(true);
  expect(asksStrangers(json({ a: [{ b: 'alice@example.com' }] }))).toBe(true);
  expect(
    asksStrangers({ target: '/a?payable=lightning:lnurlp%3A%2F%2Fexample.com', body: null }),
  ).toBe(true);
  expect(asksStrangers(json({ lnurl: 'lnurlp://127.0.0.1:1/x', note: 'x' }))).toBe(false);
});

test('no secret is put into a field that answers repeat', () => {
  const secrets = ['5'.repeat(64)];
  const filled = (name: string) =>
    Array.from({ length: 200 }, (_, round) =>
      nastyJson({ dice: diceOf(1, round), pool: openPool([]), document: {}, secrets }, name),
    );
  for (const name of ['external_id', 'client_payment_id', 'payment_hash', 'personal_note'])
    expect(filled(name)).not.toContain(JSON.stringify(secrets[0]));
  expect(filled('invoice')).toContain(JSON.stringify(secrets[0]));
});
