import { expect, test } from 'bun:test';
import { together } from '../../src/store/postgres/together.ts';
import { throwing } from '../support/rejection.ts';

const failed = (errno: string) =>
  Object.assign(new Error(errno), { code: 'ERR_POSTGRES_SERVER_ERROR', errno });
const endless = async (ends: Promise<unknown>) => {
  await ends;
  return 'ended';
};

test('it throws when all have ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const all = together([Promise.reject(new Error('first')), endless(promise)]);
  const outcome = all.catch((error: Error) => error.message);
  expect(await Promise.race([outcome, Bun.sleep(0).then(() => 'waits')])).toBe('waits');
  resolve();
  expect(await outcome).toBe('first');
});

test('it throws what made a transaction fail, not that it had failed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const inner = together([Promise.reject(failed('40P01')), endless(promise)]);
  const outer = together([inner, Promise.reject(failed('25P02'))]);
  resolve();
  expect(await throwing(outer)).toThrow('40P01');
  expect(await throwing(together([Promise.reject(failed('25P02'))]))).toThrow('25P02');
});
