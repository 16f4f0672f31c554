import { afterEach, beforeEach, expect, test } from 'bun:test';
import { base64urlnopad } from '@scure/base';
import { clnConnect } from '../../../src/nodes/cln/set-up/connect.ts';
import { FakeCln, refusal } from './fake-cln.ts';

let cln: FakeCln;
let told: string[];
beforeEach(() => {
  cln = new FakeCln();
  told = [];
  const info = { id: `02${'bb'.repeat(32)}`, version: 'v26.06.6', network: 'regtest' };
  cln.on('getinfo', () => Response.json({ ...info, blockheight: 1 }, { status: 201 }));
});
afterEach(() => cln.stop());

/** Runs the command's search with a rune of these restrictions. */
function find(restrictions: string) {
  const rune = base64urlnopad.encode(
    new Uint8Array([...new Uint8Array(32), ...new TextEncoder().encode(restrictions)]),
  );
  const files: Readonly<Record<string, string>> = { rune, cert: cln.cert };
  return clnConnect.find({
    argument: undefined,
    options: { url: cln.url, certPath: 'cert', runePath: 'rune' },
    read: (path) => new Uint8Array(Buffer.from(files[path] ?? '')),
    proxy: null,
    tell: (sentence) => void told.push(sentence),
  });
}

test('a rune with a rate is told before the node is asked', async () => {
  expect((await find('=1&rate=60')).permissions).toContain('pay_invoice');
  expect(told).toEqual([expect.stringContaining('This rune has a rate (rate=60)')]);
  cln.on('getinfo', () => refusal(1502, 'Not permitted: too soon', 401));
  const error = await find('=1&rate=60').catch((reason: Error) => reason);
  expect(String(error)).toContain('its rune has a rate');
  expect(String(error)).not.toContain('does not allow getinfo');
});

test('of a rune without a rate nothing is told', async () => {
  await find('=1&wallet#rate=60');
  expect(told).toEqual([]);
});
