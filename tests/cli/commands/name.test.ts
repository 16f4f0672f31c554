import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld, type Ran, runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
/** A sidecar that is not to be trusted, and what it answers. */
let answer: object = {};
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(answer) });
beforeAll(async () => {
  world = await openCliWorld(['--address-domain', 'example.com']);
});
afterAll(async () => {
  await world?.close();
  await server.stop(true);
});

const refused = ({ exitCode, stdout }: Ran) =>
  expect({ exitCode, stdout }).toEqual({
    exitCode: 1,
    stdout: '',
  });
const ask = (name: object, ...args: string[]) => {
  answer = {
    human_bitcoin_address: '₿satoshi@example.com',
    lightning_address: 'satoshi@example.com',
    offer: null,
    updatable: false,
    ...name,
  };
  return runBinary(['name', ...args], { SERVICE_SIDECAR_URL: server.url.origin });
};

describe('name', () => {
  test('show says how to claim one where there is none', async () => {
    const ran = await world.run('name', 'show');
    refused(ran);
    expect(ran.stderr).toEndWith('claim one with "wallet-sidecar name claim" (error 107).');
  });

  test('claim claims it, and show shows both addresses', async () => {
    const claimed = await world.run('name', 'claim', 'satoshi');
    expect(claimed).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: '₿satoshi@example.com\nsatoshi@example.com\nIt can be changed now.',
    });
    expect(await world.run('name', 'show')).toEqual(claimed);
    expect(await world.json('name', 'show')).toEqual(
      await world.api('GET', '/v2/node/human_bitcoin_address'),
    );
  });

  test('dns-record prints the TXT record of BIP 353, in strings of at most 255 characters', async () => {
    const { offer } = await world.api('GET', '/v2/node/human_bitcoin_address');
    const text = `bitcoin:?lno=${offer}`;
    const { exitCode, stdout } = await world.run('name', 'dns-record');
    expect(exitCode).toBe(0);
    const [before = '', ...strings] = stdout.split(/ (?=")/);
    expect(before).toBe('satoshi.user._bitcoin-payment.example.com. 3600 IN TXT');
    for (const string of strings) expect(string).toMatch(/^"[a-z0-9:?=]{1,255}"$/);
    expect(strings.map((string) => string.slice(1, -1)).join('')).toBe(text);
    expect(await world.json('name', 'dns-record')).toEqual({
      name: 'satoshi.user._bitcoin-payment.example.com',
      type: 'TXT',
      text,
    });
  });

  test('dns-record of a long offer has several strings', async () => {
    const { stdout } = await ask({ offer: `lno1${'q'.repeat(400)}` }, 'dns-record');
    expect(stdout.match(/"[^"]*"/g)?.map(({ length }) => length)).toEqual([257, 164]);
  });

  test('a name without an offer has no record, and is shown as its Lightning Address alone', async () => {
    const ran = await ask({}, 'dns-record');
    refused(ran);
    expect(ran.stderr).toContain('has no offers, so there is no record to publish');
    expect((await ask({}, 'show')).stdout).toBe('satoshi@example.com\nIt cannot be changed now.');
  });

  test('dns-record prints nothing for a host that is not in the DNS, or that is no offer', async () => {
    const here = { human_bitcoin_address: '₿satoshi@127.0.0.1:5393', offer: 'lno1q' };
    const ran = await ask(here, 'dns-record');
    refused(ran);
    expect(ran.stderr).toContain('--address-domain');
    for (const offer of ['lno1q" "x', 'lnbc1', 'lno1\n@ IN TXT x']) {
      refused(await ask({ offer }, 'dns-record'));
    }
  });
});
