import { afterAll, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { parseRelay } from '../../src/model/clients/nwc.ts';
import type { GuardOptions } from '../../src/net/guarded-fetch.ts';
import { socketThrough } from '../../src/nodes/remote/calls/socks-agent.ts';
import { openReach, type Through } from '../../src/nwc/reach.ts';
import { openRelay } from '../../src/nwc/relay.ts';
import { startNostrRelay } from '../support/nostr-relay.ts';
import { startSocksServer } from '../support/socks-server.ts';
import { until } from '../support/until.ts';

const relay = startNostrRelay();
afterAll(() => relay.stop());

const log = { debug() {}, info() {}, warn() {}, error() {} };

const closed = { allowPrivateNetwork: false, allowLoopback: false };

/** Opens a relay that a request names, within the guard; without a guard that of the configuration. */
function openTo(
  url: string,
  guard: GuardOptions | null,
  onEvent: (event: unknown) => boolean = () => true,
  through: Through | null = null,
) {
  const reach = openReach({ guard: guard ?? closed, trusted: guard ? [] : [url], through });
  const about = { filter: () => ({}), stays: () => [], onEvent, log };
  return openRelay({ url, reach: reach.optionsFor, ...about });
}

test('a relay that a request names is reached only where its guard allows; that of the configuration anywhere', async () => {
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

test('with --node-proxy nothing goes beside it: it looks up the names, and only relays of this machine are direct', async () => {
  const proxy = await startSocksServer();
  const through: Through = (target) => socketThrough(proxy, target);
  const lookedUp: string[] = [];
  const resolve = async (host: string) => {
    lookedUp.push(host);
    return ['127.0.0.1'];
  };
  const open = { allowPrivateNetwork: true, allowLoopback: true, resolve };
  const named = `ws://relay.invalid:${relay.port}/v1`;
  const [trusted, direct, refused] = [
    openTo(named, null, undefined, through),
    openTo(relay.url, open, undefined, through),
    openTo(named, open, undefined, through),
  ];
  await until(() => trusted.isOpen && direct.isOpen && refused.failures > 0);
  expect([proxy.asked, lookedUp]).toEqual([[`relay.invalid:${relay.port}`], []]);
  expect(relay.connected()).toBe(2);
  for (const one of [trusted, direct, refused]) one.close();
  await until(() => relay.connected() === 0);
  proxy.refuse(true);
  const away = openTo(named, null, undefined, through);
  await until(() => away.failures > 0);
  expect(relay.connected()).toBe(0);
  away.close();
  proxy.stop();
});

test('the way to the proxy has a password, so that no other program of this machine can use it', async () => {
  const asked: string[] = [];
  const through: Through = async ({ host }) => Promise.reject(new Error(`${asked.push(host)}`));
  const url = 'wss://relay.invalid';
  const reach = openReach({ guard: closed, trusted: [url], through });
  const { proxy = '' } = await reach.optionsFor(url);
  const bridge = new URL(proxy);
  const statusFor = async (password: string): Promise<string> => {
    const secret = Buffer.from(`relay:${password}`).toString('base64');
    const socket = connect(Number(bridge.port), '127.0.0.1');
    socket.write(
      `CONNECT relay.invalid:443 HTTP/1.1\r\nHost: relay.invalid:443\r\nProxy-Authorization: Basic ${secret}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return String(answer).slice(9, 12);
  };
  expect([await statusFor('guess'), asked]).toEqual(['407', []]);
  expect([await statusFor(bridge.password), asked]).toEqual(['502', ['relay.invalid']]);
  reach.close();
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
