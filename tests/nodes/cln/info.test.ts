import { afterEach, beforeEach, expect, test } from 'bun:test';
import { nodeInfo } from '../../../src/nodes/cln/reads/info.ts';
import { throwing } from '../../support/rejection.ts';
import { FakeCln, refusal } from './fake-cln.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';

let cln: FakeCln;
let wallet: FakeWallet;
let version: string;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  version = 'v26.06.6';
  cln.on('getinfo', getinfo);
  cln.on('listfunds', () => Response.json({ outputs: [] }));
  cln.on('listpeerchannels', () => Response.json({ channels: [] }));
});
afterEach(() => cln.stop());
const getinfo = () =>
  Response.json({ id: wallet.nodePk, version, network: 'regtest', blockheight: 100 });
const versionNow = async () => (await nodeInfo({ rpc: rpcOf(cln), wallet })).version;

test('the node is asked for its version once a minute, and for its balances each time', async () => {
  expect(await versionNow()).toBe('26.06.6');
  version = 'v26.09';
  wallet.times.elapsedMs += 59_999;
  expect(await versionNow()).toBe('26.06.6');
  expect([cln.of('getinfo').length, cln.of('listfunds').length]).toEqual([1, 2]);
  wallet.times.elapsedMs += 1;
  expect(await versionNow()).toBe('26.09');
});

test('a version that could not be read is asked for again', async () => {
  cln.on('getinfo', () => refusal(-1, 'starting'));
  expect(await throwing(versionNow())).toThrow();
  cln.on('getinfo', getinfo);
  expect(await versionNow()).toBe('26.06.6');
});
