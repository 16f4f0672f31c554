import { afterEach, beforeEach, expect, test } from 'bun:test';
import { sessionKey } from '../../../src/console/api/session-key.ts';

const kept = new Map<string, string>();
const storage = {
  getItem: (name: string) => kept.get(name) ?? null,
  setItem: (name: string, value: string) => void kept.set(name, value),
  removeItem: (name: string) => void kept.delete(name),
};
beforeEach(() => Object.assign(globalThis, { localStorage: storage }));
afterEach(() => {
  kept.clear();
  Reflect.deleteProperty(globalThis, 'localStorage');
});

test('a tab whose session has ended leaves the newer key of another tab alone', () => {
  sessionKey.keep('old', false);
  sessionKey.keep('new', false);
  sessionKey.forget('old');
  expect(sessionKey.read()).toBe('new');
  sessionKey.forget('new');
  expect(sessionKey.read()).toBeNull();
});

test('a browser stays known as a device after its session, until it signs in otherwise', () => {
  sessionKey.keep('of a device', true);
  expect(sessionKey.isOfDevice()).toBe(true);
  sessionKey.forget('of a device');
  expect(sessionKey.isOfDevice()).toBe(true);
  sessionKey.keep('of the owner', false);
  expect(sessionKey.isOfDevice()).toBe(false);
});
