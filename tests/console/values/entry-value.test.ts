import { expect, test } from 'bun:test';
import { entryValue } from '../../../src/console/values/kept.ts';

test('what a page keeps in an entry of the history is there for the same caller, at that entry alone', () => {
  const entry = {
    state: null as unknown,
    replaceState(state: unknown) {
      this.state = structuredClone(state);
    },
  };
  const read = (owner: string) => entryValue<string>(entry, owner).read();
  expect(read('owner')).toBeNull();
  entryValue<string>(entry, 'owner').keep('order-17');
  expect(read('owner')).toBe('order-17');
  expect(read('till')).toBeNull();
  entry.state = null;
  expect(read('owner')).toBeNull();
});
