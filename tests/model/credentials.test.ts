import { describe, expect, test } from 'bun:test';
import { base64url } from '@scure/base';
import { decodeCredentials } from '../../src/model/credentials.ts';

const [client, secret] = ['c1'.repeat(32), '5e'.repeat(32)] as const;

/** The text of each length modulo three, so that each padding is there. */
const CREDENTIALS = {
  'no padding': { v: 2, client, secret },
  'one character of padding': { v: 1, node: { kind: 'sandbox' }, client, secret },
  'two characters of padding': {
    v: 2,
    node: { kind: 'lnd', url: 'https://lnd-1', cert: null, pk: `02${client}`, network: 'regtest' },
    token: '0201',
  },
};

describe('a credentials string', () => {
  test.each(Object.entries(CREDENTIALS))(
    'of base64url with %s is read with it and without',
    (name, json) => {
      const padded = base64url.encode(new TextEncoder().encode(JSON.stringify(json)));
      const bare = padded.replaceAll('=', '');
      expect(padded.length - bare.length).toBe(Object.keys(CREDENTIALS).indexOf(name));
      const read = decodeCredentials(bare);
      expect(read?.client ?? read?.node).toMatchObject(
        'client' in json ? { client, secret } : { token: '0201' },
      );
      expect(decodeCredentials(padded)).toEqual(read);
    },
  );

  test('of another alphabet, or with padding inside, is none', () => {
    const text = base64url.encode(
      new TextEncoder().encode(JSON.stringify(CREDENTIALS['no padding'])),
    );
    expect(decodeCredentials(`${text.slice(0, 8)}=${text.slice(8)}`)).toBeNull();
    expect(decodeCredentials(`${text}===`)).toBeNull();
    expect(decodeCredentials(`+${text.slice(1)}`)).toBeNull();
  });
});
