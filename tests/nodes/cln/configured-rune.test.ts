import { afterEach, beforeEach, expect, test } from 'bun:test';
import { base64urlnopad } from '@scure/base';
import type { NodeCredentials } from '../../../src/model/credentials.ts';
import { openCln } from '../../../src/nodes/cln/index.ts';
import { RuneIds } from '../../../src/nodes/cln/words/rune-ids.ts';
import { rejection } from '../../support/rejection.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { until } from '../../support/until.ts';
import { FakeCln } from './fake-cln.ts';

const NODE = `02${'bb'.repeat(32)}`;
const runeOf = (id: number | string) =>
  base64urlnopad.encode(
    new Uint8Array([...new Uint8Array(32), ...new TextEncoder().encode(`=${id}`)]),
  );

let cln: FakeCln;
beforeEach(() => {
  cln = new FakeCln();
  const info = { id: NODE, version: 'v26.06.6', network: 'regtest', blockheight: 1 };
  cln.on('getinfo', () => Response.json(info, { status: 201 }));
  cln.on('listpeerchannels', () => Response.json({ channels: [] }, { status: 201 }));
  cln.on('listclosedchannels', () => Response.json({ closedchannels: [] }, { status: 201 }));
});
afterEach(() => cln.stop());

const entryOf = (token: string): NodeCredentials => {
  const { url, cert } = cln;
  return { kind: 'cln', url, cert, nodePk: NODE, network: 'regtest', token };
};

test('a rune that is ended while the sidecar runs is told in health, and the one that the file names now is used', async () => {
  const entry = entryOf(runeOf(1));
  let file = entry;
  const connector = openCln(
    remoteOptions([entry], { reread: { entry: () => file, root: () => null } }),
  );
  const { node } = await connector.connectConfigured(entry);
  const list = () => node.channels?.listChannels();
  expect(await list()).toEqual([]);
  cln.accept((rune) => rune !== entry.token);
  expect(await rejection(list())).toMatchObject({ kind: 'unauthenticated' });
  expect(connector.problems().join()).toContain('does not accept the configured rune');
  file = { ...entry, token: runeOf(2) };
  expect(await rejection(list())).toMatchObject({ kind: 'unauthenticated' });
  expect(await list()).toEqual([]);
  expect(connector.problems()).toEqual([]);
  await connector.close();
});

test('a rune that allows more counts as soon as the file holds it, and no other text does', async () => {
  const restricted = runeOf('1&method=getinfo|method=listpeerchannels');
  const entry = entryOf(restricted);
  let file = entry;
  const mark = 'ab'.repeat(16);
  const connector = openCln(
    remoteOptions([entry], { mark, reread: { entry: () => file, root: () => null } }),
  );
  const { node, grant } = await connector.connectConfigured(entry);
  expect(grant?.now().permissions).not.toContain('create_invoice');
  const ids = new RuneIds(mark);
  const ofClient = runeOf(`2&${ids.restriction(ids.draw((bytes) => new Uint8Array(bytes)))}`);
  for (const token of ['no rune', ofClient]) {
    file = { ...entry, token };
    expect(grant?.reread().permissions).not.toContain('create_invoice');
  }
  file = { ...entry, token: runeOf(3) };
  expect(grant?.now().permissions).not.toContain('create_invoice');
  expect(grant?.reread().permissions).toContain('create_invoice');
  expect(grant?.now().permissions).toContain('create_invoice');
  cln.accept((rune) => rune === file.token);
  expect(await node.channels?.listChannels()).toEqual([]);
  await connector.close();
});

test("a client's rune that was ended at the node is told with its id, and not one that was replaced meanwhile", async () => {
  const entry = entryOf(runeOf(1));
  const connector = openCln(remoteOptions([entry]));
  const { userPk } = await connector.connectConfigured(entry);
  let token = { id: 'first', token: runeOf(2) };
  const ended: string[] = [];
  const { node } = await connector.connectClient(
    userPk,
    () => token,
    (id) => ended.push(id),
  );
  const list = () => node.channels?.listChannels();
  expect(await list()).toEqual([]);
  // The grant changes while a call with the earlier rune is on its way.
  cln.accept((rune) => {
    if (rune !== runeOf(2)) return true;
    token = { id: 'second', token: runeOf(3) };
    return false;
  });
  expect(await rejection(list())).toMatchObject({ kind: 'unauthenticated' });
  await until(() => cln.of('getinfo').length >= 2, 'the present rune was asked about');
  expect(await list()).toEqual([]);
  expect(ended).toEqual([]);
  cln.accept((rune) => rune === entry.token);
  expect(await rejection(list())).toMatchObject({ kind: 'unauthenticated' });
  await until(() => ended.length > 0, 'it was told');
  expect(ended).toEqual(['second']);
  expect(connector.problems()).toEqual([]);
  await connector.close();
});
