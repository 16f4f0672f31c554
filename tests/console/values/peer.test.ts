import { expect, test } from 'bun:test';
import { isPeer } from '../../../src/console/values/peer.ts';
import { parseChannelPeer } from '../../../src/model/channel.ts';

test('a peer is one exactly where the sidecar takes it as one', () => {
  const key = `02${'ab'.repeat(32)}`;
  const typed = [
    `${key}@node.example:9735`,
    `${key}@[::1]:9735`,
    `${key}@node.example`,
    `${key}@node.example:123456`,
    `04${'ab'.repeat(32)}@node.example:9735`,
    `${key}@no de:9735`,
    key,
    '',
  ];
  expect(typed.map(isPeer)).toEqual(typed.map((one) => parseChannelPeer(one) !== null));
  expect(typed.filter(isPeer)).toHaveLength(2);
});
