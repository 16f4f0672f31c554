import { expect } from 'bun:test';
import { CodecError, type CodecFormat } from '../../src/codecs/codec-error.ts';

/** Expects `act` to throw the `CodecError` of that format with `reason` in its message. */
export function expectInvalid(
  act: () => unknown,
  format: CodecFormat,
  reason: string | RegExp,
): void {
  let thrown: unknown = 'nothing was thrown';
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(CodecError);
  if (!(thrown instanceof CodecError)) return;
  expect(thrown.message).toMatch(reason);
  expect(thrown.format).toBe(format);
}
