import { expect, test } from 'bun:test';
import { openLanes } from '../../src/webhooks/lanes.ts';

test('an endpoint has one lane, also when it is asked for twice at once', async () => {
  const lanes = openLanes(async () => ({ url: 'http://127.0.0.1:1', secret: null }));
  const [first, second] = await Promise.all([lanes.of('ep_1'), lanes.of('ep_1')]);
  expect(first).not.toBeNull();
  expect(second).toBe(first);
  lanes.closeAll();
});
