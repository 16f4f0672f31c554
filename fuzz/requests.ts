import { bodyBytes } from './bodies.ts';
import type { Dice } from './dice.ts';
import type { Operation } from './operations.ts';
import { mutateText, nastyText } from './text.ts';
import { fittingValue, type ValueSources } from './values.ts';
import type { WireRequest } from './wire.ts';

/** The sources of requests. */
export interface RequestSources extends ValueSources {
  readonly operations: readonly Operation[];
  readonly host: string;
  /** Valid credentials. */
  readonly credentials: readonly string[];
}

/** A request, and whether it is valid HTTP: if not, the server's own parser may answer it without JSON. */
export interface FuzzRequest extends WireRequest {
  readonly isHttp: boolean;
}

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'get',
  'FOO',
  'PROPFIND',
  '',
];
const CONTENT_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json;',
  'APPLICATION/JSON',
  'application/json; charset=utf-16',
  'application/jsonx',
  'application/problem+json',
  'json',
  '',
  '*/*',
  ' application/json',
  '\xff',
];
/** Requests with a longer head are rejected before the application gets them. */
const MOST_HEAD_BYTES = 12_000;

/** Returns a request to one endpoint: as documented, or wrong in one or more of its parts. */
export function fuzzRequest(sources: RequestSources): FuzzRequest {
  const { dice, operations } = sources;
  const operation = dice.pick(operations);
  const method = dice.chance(0.94) ? operation.method : dice.pick(METHODS);
  const path = pathOf(sources, operation);
  const query = queryOf(sources, operation);
  const target = `${dice.chance(0.97) ? path : brokenPath(dice, path)}${query}`;
  const withBody =
    operation.body !== null && method !== 'GET' ? dice.chance(0.97) : dice.chance(0.02);
  const body = withBody ? bodyBytes(sources, operation.body ?? {}) : null;
  const headers = headersOf(sources, operation, body !== null);
  return {
    method,
    target,
    headers,
    body,
    chunked: body !== null && dice.chance(0.05),
    isHttp: isHttp({ method, target, headers }),
  };
}

function pathOf(sources: RequestSources, { path }: Operation): string {
  const { dice, pool } = sources;
  return path.replace(/\{\w+\}/g, () => {
    const known = pool.values('lightning_address').map((address) => address.split('@')[0] ?? '');
    const services = pool.values('id').filter((id) => !id.startsWith('msg_'));
    const names = [...known, ...services, '1', '2', '3'];
    return percentEncode(dice.chance(0.7) ? dice.pick(names) : nastyText(dice)) || 'x';
  });
}

function brokenPath(dice: Dice, path: string): string {
  return dice.pick([
    `${path}/`,
    path.toUpperCase(),
    path.replace('/', '//'),
    path.replace('/v2', '/v2/../v2'),
    `${path}%00`,
    `${path}%2f`,
    `${path};a=b`,
    path.replaceAll('_', '%5f'),
    `/${percentEncode(nastyText(dice))}`,
    '/',
    '*',
    `http://example.com${path}`,
    path.slice(0, -1),
    `${path}#x`,
  ]);
}

function queryOf(sources: RequestSources, { query, group, body }: Operation): string {
  const { dice } = sources;
  const pairs: [string, string][] = [];
  for (const { name, required, schema } of query) {
    // Without `timeout_secs`, or beyond 2,000,000, a wait has no end (docs/api.md, Waiting), so every wait gets one here.
    const isWait = name === 'timeout_secs';
    // If the body has the same field, the two values usually differ.
    if (!required && !isWait && dice.chance(body ? 0.9 : 0.6)) continue;
    if (required && dice.chance(0.03)) continue;
    const fitting = String(fittingValue(sources, schema, name));
    if (isWait)
      pairs.push([
        name,
        dice.chance(0.8) ? fitting : dice.pick(['-1', 'x', '', '1e3', '0.5', ' 1']),
      ]);
    else pairs.push([name, dice.chance(0.8) ? fitting : brokenValue(sources, fitting)]);
  }
  if (dice.chance(0.05)) pairs.push([nastyText(dice), nastyText(dice)]);
  const [first] = pairs;
  if (first && group !== 'payments' && dice.chance(0.03)) pairs.push([first[0], nastyText(dice)]);
  const text = pairs
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join('&');
  const loose = dice.chance(0.02)
    ? dice.pick(['&', '&&=', '%', '%zz=%zz', '=', 'a[]=1&a[b]=2', '%ed%a0%80=%ff', '?'])
    : '';
  return text === '' && loose === '' ? '' : `?${text}${loose}`;
}

function brokenValue({ dice, secrets }: RequestSources, fitting: string): string {
  if (dice.chance(0.5)) return mutateText(dice, fitting);
  return dice.chance(0.1) ? dice.pick(secrets) : nastyText(dice);
}

/** Percent-encodes a text, and a lone surrogate in it as the three bytes that UTF-8 forbids. */
function percentEncode(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : '%ED%A0%80'))
    .join('')
    .slice(0, MOST_HEAD_BYTES);
}

function headersOf(
  sources: RequestSources,
  operation: Operation,
  hasBody: boolean,
): [string, string][] {
  const { dice } = sources;
  const headers: [string, string][] = [
    [
      'host',
      dice.chance(0.98)
        ? sources.host
        : dice.pick([
            'evil.example',
            '',
            'localhost',
            `${sources.host}.`,
            sources.host.toUpperCase(),
          ]),
    ],
  ];
  const authorization = authorizationOf(sources);
  if (authorization !== null) headers.push(['authorization', authorization]);
  if (hasBody)
    headers.push([
      'content-type',
      dice.chance(0.93) ? 'application/json' : dice.pick(CONTENT_TYPES),
    ]);
  if (operation.method === 'POST' && dice.chance(0.25))
    headers.push(['idempotency-key', idempotencyKey(dice)]);
  // A payment to a node that holds it does not end, so the wait for it is limited.
  if (operation.group === 'send')
    headers.push(['prefer', dice.pick(['respond-async', 'wait=0', 'wait=0', 'wait=1'])]);
  else if (dice.chance(0.05)) headers.push(['prefer', headerText(nastyText(dice))]);
  if (dice.chance(0.02))
    headers.push([
      'origin',
      dice.pick([
        'http://evil.example',
        'null',
        `http://${sources.host}`,
        headerText(nastyText(dice)),
      ]),
    ]);
  if (dice.chance(0.02))
    headers.push([
      'sec-fetch-site',
      dice.pick(['cross-site', 'same-site', 'same-origin', 'none', 'x']),
    ]);
  if (operation.group === 'events' && dice.chance(0.5))
    headers.push(['last-event-id', headerText(String(fittingValue(sources, {}, 'start_index')))]);
  if (dice.chance(0.02))
    headers.push([
      dice.pick([
        'x',
        'accept',
        'content-encoding',
        'range',
        'x-forwarded-for',
        'cookie',
        'if-none-match',
      ]),
      headerText(nastyText(dice)),
    ]);
  if (dice.chance(0.01)) headers.push(dice.pick(headers));
  return headers;
}

function authorizationOf({ dice, credentials, pool }: RequestSources): string | null {
  const kind = dice.below(20);
  if (kind < 9) return null;
  const known = dice.pick([...credentials, ...pool.values('client_credentials')]);
  if (kind < 16) return `Bearer ${known}`;
  if (kind < 18) return `Bearer ${headerText(mutateText(dice, known))}`;
  return dice.pick([
    '',
    'Bearer',
    'Bearer ',
    `bearer  ${known}`,
    `Basic ${known}`,
    known,
    `Bearer ${known} x`,
    `Bearer ${headerText(nastyText(dice))}`,
    'Bearer e30',
    `Bearer ${'A'.repeat(10_000)}`,
  ]);
}

function idempotencyKey(dice: Dice): string {
  if (dice.chance(0.8)) return `key-${dice.below(200)}`;
  return dice.pick([
    '',
    ' ',
    '\t',
    'a'.repeat(255),
    'a'.repeat(256),
    '\xe9',
    headerText(nastyText(dice)),
  ]);
}

/** Removes from a text what a header cannot hold: control characters would end the head or the request. */
function headerText(text: string): string {
  return Buffer.from(text.toWellFormed())
    .toString('latin1')
    .replace(/[\r\n\0]/g, ' ')
    .slice(0, MOST_HEAD_BYTES);
}

function isHttp({
  method,
  target,
  headers,
}: Pick<WireRequest, 'method' | 'target' | 'headers'>): boolean {
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\r\n');
  return (
    ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'].includes(method) &&
    /^\/[!-~]*$/.test(target) &&
    headers.every(([, value]) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) &&
    new Set(headers.map(([name]) => name)).size === headers.length &&
    headers.some(([name, value]) => name === 'host' && value !== '') &&
    target.length + head.length < MOST_HEAD_BYTES
  );
}
