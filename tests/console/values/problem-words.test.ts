import { expect, test } from 'bun:test';
import { ERROR_CODES, WalletSidecarError } from '../../../src/client/index.ts';
import { text } from '../../../src/console/texts/index.ts';
import { problemWords } from '../../../src/console/values/problem-words.ts';

function answered(code: number, message: string, data: unknown = null): WalletSidecarError {
  return new WalletSidecarError(message, {
    kind: 'error',
    code,
    httpStatus: 400,
    data,
    body: null,
    retryAfterMs: null,
    mayHaveTakenEffect: false,
  });
}

const rejected = (path: string, message: string) =>
  answered(ERROR_CODES.rejected, `${path}: ${message}`, { issues: [{ path, message }] });

const wordsOf = (error: Error) => problemWords(error, text.fieldNames);

test('what is wrong with a field is told of the field as the form calls it', () => {
  expect(
    wordsOf(rejected('expires_at', 'must be in the future, in milliseconds since the UNIX epoch')),
  ).toBe('Last day: must be in the future');
  expect(wordsOf(rejected('external_id', 'must be at most 255 characters'))).toBe(
    'Order number: must be at most 255 characters',
  );
});

test('a sentence that names a field names it as the form does', () => {
  const refused = answered(ERROR_CODES.refused, 'It costs more: raise max_fee, or wait.');
  expect(wordsOf(refused)).toBe('It costs more: raise “Highest fee”, or wait.');
});

test('what no form asks for keeps the words of the sidecar', () => {
  expect(wordsOf(rejected('limit', 'must be less'))).toBe('limit: must be less');
  expect(wordsOf(answered(ERROR_CODES.refused, 'The node_pk and the fee.'))).toBe(
    'The node_pk and the fee.',
  );
  expect(wordsOf(new TypeError('Failed to fetch'))).toBe('Failed to fetch');
});
