import { afterAll, expect, test } from 'bun:test';
import { parseRelay } from '../../src/model/clients/nwc.ts';
import { openRelay } from '../../src/nwc/relay.ts';
import { startNostrRelay } from '../support/nostr-relay.ts';
import { until } from '../support/until.ts';

const relay = startNostrRelay();
afterAll(() => relay.stop());

const log = { debug() {}, info() {}, warn() {}, error() {} };

function openTo(
  url: string,
  guard: Parameters<typeof openRelay>[0]['guard'],
  onEvent: (event: unknown) => boolean = () => true,
) {
  return openRelay({ url, guard, filter: () => ({}), stays: () => [], onEvent, log });
}

test('a relay that a request names is reached only where its guard allows; that of the configuration anywhere', async () => {
  const closed = { allowPrivateNetwork: false, allowLoopback: false };
  const inside = async () => ['10.0.0.1'];
  const rejected = [
    openTo(relay.url, closed),
    openTo('wss://relay.example', { ...closed, allowLoopback: true, resolve: inside }),
    openTo('wss://relay.onion', { ...closed, allowPrivateNetwork: true }),
  ];
  await until(() => rejected.every(({ failures }) => failures > 0));
  expect(relay.connected()).toBe(0);
  const allowed = [openTo(relay.url, { ...closed, allowLoopback: true }), openTo(relay.url, null)];
  await until(() => allowed.every(({ isOpen }) => isOpen));
  for (const one of [...rejected, ...allowed]) one.close();
  await until(() => relay.connected() === 0);
});

test('a relay that tells a forged event is left, and what it has sent besides is not read', async () => {
  const seen: unknown[] = [];
  const opened = openTo(relay.url, null, (event) => seen.push(event) === 0);
  await until(() => relay.connected() === 1);
  relay.shout('["EVENT","nwc",1]', '["EVENT","nwc",2]', '["EVENT","nwc",3]');
  await until(() => seen.length > 0 && opened.failures > 0);
  await until(() => opened.isOpen);
  expect(seen).toEqual([1]);
  opened.close();
  await until(() => relay.connected() === 0);
});

test('the address of a relay is by wss, of this machine also by ws, and holds no password', () => {
  for (const good of [
    'wss://relay.example',
    'wss://relay.example/v1?x=1',
    'ws://localhost:7',
    'ws://[::1]:7',
  ]) {
    expect(parseRelay(good)).toEqual({ value: good });
  }
  const wrong = [
    '',
    'relay.example',
    'ws://relay.example',
    'https://relay.example',
    'wss://',
    'wss://a@b',
  ];
  for (const bad of [...wrong, 'wss://relay.example#x', 'wss://relay .example', 'wss://ä']) {
    expect([bad, 'problem' in parseRelay(bad)]).toEqual([bad, true]);
  }
});
