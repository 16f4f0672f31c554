import { describe, expect, test } from 'bun:test';
import {
  cookieName,
  cookieValues,
  requirePageOf,
  sessionCookie,
  signInOrigin,
} from '../../../src/http/console/page-origin.ts';
import { ApiError } from '../../../src/model/errors.ts';

const OWN = { host: '127.0.0.1:5393', origin: 'http://127.0.0.1:5393' };
const PROXIED = { host: 'wallet.example', origin: 'https://wallet.example' };

const outcomeOf = (act: () => unknown): unknown => {
  try {
    return act() ?? 'allowed';
  } catch (error) {
    return error instanceof ApiError ? error.kind : `${error}`;
  }
};

describe('the sign-in comes from a page of this host (docs/decisions.md 132)', () => {
  const cases: readonly (readonly [string, Record<string, string>, string])[] = [
    ['its own page', OWN, OWN.origin],
    ['its own page, as the browser says', { ...OWN, 'sec-fetch-site': 'same-origin' }, OWN.origin],
    ['its own page over https', PROXIED, PROXIED.origin],
    ['a program, without Origin', { host: OWN.host }, 'hostNotAllowed'],
    ['a sandboxed page', { ...OWN, origin: 'null' }, 'hostNotAllowed'],
    ['another port', { ...OWN, origin: 'http://127.0.0.1:8080' }, 'hostNotAllowed'],
    ['another name of this machine', { ...OWN, origin: 'http://localhost:5393' }, 'hostNotAllowed'],
    ['another site', { ...OWN, 'sec-fetch-site': 'cross-site' }, 'hostNotAllowed'],
    ['another host of the site', { ...OWN, 'sec-fetch-site': 'same-site' }, 'hostNotAllowed'],
    ['no page', { ...OWN, 'sec-fetch-site': 'none' }, 'hostNotAllowed'],
    [
      'plain http beyond this machine',
      { host: 'wallet.example', origin: 'http://wallet.example' },
      'hostNotAllowed',
    ],
  ];
  for (const [name, headers, outcome] of cases) {
    test(`${name}: ${outcome}`, () => {
      expect(outcomeOf(() => signInOrigin(new Headers(headers)))).toBe(outcome);
    });
  }
});

describe('a request of a session comes from the page that signed in (docs/decisions.md 133)', () => {
  const site = 'sec-fetch-site';
  const cases: readonly (readonly [string, Record<string, string>, string])[] = [
    ['the browser says so', { host: OWN.host, [site]: 'same-origin' }, 'allowed'],
    ['Origin says so', OWN, 'allowed'],
    ['nothing says so', { host: OWN.host }, 'hostNotAllowed'],
    ['it was typed', { host: OWN.host, [site]: 'none' }, 'hostNotAllowed'],
    ['another site', { ...OWN, [site]: 'cross-site' }, 'hostNotAllowed'],
    ['another host of the site', { ...OWN, [site]: 'same-site' }, 'hostNotAllowed'],
    ['another port', { host: OWN.host, origin: 'http://127.0.0.1:1' }, 'hostNotAllowed'],
    ['another Host', { host: 'localhost:5393', [site]: 'same-origin' }, 'hostNotAllowed'],
    [
      'Origin and the browser differ',
      { ...OWN, origin: 'http://127.0.0.1:1', [site]: 'same-origin' },
      'hostNotAllowed',
    ],
  ];
  for (const [name, headers, outcome] of cases) {
    test(`${name}: ${outcome}`, () => {
      expect(outcomeOf(() => requirePageOf(OWN.origin, new Headers(headers)))).toBe(outcome);
    });
  }
});

describe('the cookie of a session', () => {
  test('has the port in its name, because the ports of a host share cookies', () => {
    expect(cookieName('http://127.0.0.1:5393')).not.toBe(cookieName('http://127.0.0.1:5394'));
  });

  test('is out of reach of scripts and other sites, and over https of other hosts', () => {
    expect(sessionCookie(OWN.origin, 'ab')).toBe(
      'wallet-sidecar-5393=ab; Path=/; HttpOnly; SameSite=Strict',
    );
    expect(sessionCookie(PROXIED.origin, 'ab')).toBe(
      '__Host-wallet-sidecar-443=ab; Path=/; HttpOnly; SameSite=Strict; Secure',
    );
  });

  test('is found beside another one of the same name', () => {
    const headers = new Headers({
      cookie: 'a=1; wallet-sidecar-5393=x; wallet-sidecar-5393=y; b=',
    });
    expect(cookieValues(headers, 'wallet-sidecar-5393')).toEqual(['x', 'y']);
  });
});
