import { ERRORS } from '../src/model/errors.ts';
import { type Schema, schemaProblem } from './json-schema.ts';
import { type Operation, operationFor } from './operations.ts';
import type { FuzzRequest } from './requests.ts';
import type { WireOutcome } from './wire.ts';

/** A planted secret, and the name under which it is reported. */
export interface Marker {
  readonly name: string;
  readonly text: string;
}

interface OracleOptions {
  readonly document: Schema;
  readonly operations: readonly Operation[];
  readonly markers: readonly Marker[];
}

type Answer = Extract<WireOutcome, { kind: 'answer' }>;

/** Statuses with which the server's HTTP parser answers, without a body, before the application gets the request. */
const PARSER_STATUSES = new Set([400, 405, 411, 413, 414, 417, 431, 501, 505]);
/** The statuses of error 7 besides 400, including those for the limits of a request's head. */
const REJECTED_VARIANTS = new Set([405, 413, 414, 415, 431]);
/** The error for a path that the document does not have. */
const NOWHERE: ReadonlyMap<number, readonly number[]> = new Map([
  [404, [ERRORS.notFound.code]],
  [403, [ERRORS.hostNotAllowed.code]],
]);

/** Checks the rules of every answer. Returns the first broken one, or null. */
export function judge(
  options: OracleOptions,
  request: FuzzRequest,
  outcome: WireOutcome,
): string | null {
  if (outcome.kind === 'hang') return 'no answer within the time';
  if (outcome.kind === 'closed') return request.isHttp ? 'closed without an answer' : null;
  const leaked =
    leakOf(options.markers, outcome.head) ?? leakOf(options.markers, outcome.body.toString());
  if (leaked) return `shows ${leaked}`;
  const isParsers = outcome.body.length === 0 && PARSER_STATUSES.has(outcome.status);
  if (!request.isHttp && isParsers) return null;
  const operation = operationFor(options.operations, request.method, request.target);
  if (outcome.status === 302) return judgeRedirect(options.operations, operation, request, outcome);
  if (outcome.status < 300) return judgeGood(options.document, operation, request, outcome);
  if (request.method === 'HEAD') return outcome.status === 500 ? 'internal error' : null;
  return judgeError(operation, outcome);
}

/** A redirect is documented, or leads from a page with a slash at the end to the page. */
function judgeRedirect(
  operations: readonly Operation[],
  operation: Operation | null,
  { method, target }: FuzzRequest,
  { headers }: Answer,
): string | null {
  if (operation?.redirects) return null;
  const page = headers.get('location') ?? '';
  const leadsToPage = operationFor(operations, method, page)?.path === page;
  return leadsToPage && target.split('?')[0] === `${page}/` ? null : 'leads elsewhere';
}

/** Returns the name of the first planted secret in a text. */
export function leakOf(markers: readonly Marker[], text: string): string | null {
  return markers.find((marker) => text.includes(marker.text))?.name ?? null;
}

function judgeGood(
  document: Schema,
  operation: Operation | null,
  request: FuzzRequest,
  { status, headers, body }: Answer,
): string | null {
  const documented = operation?.answers.get(status);
  if (!documented) return `answers ${status}, which is not documented`;
  const contentType = mediaType(headers.get('content-type') ?? '');
  const contentTypes = documented.contentTypes.map(mediaType);
  if (!(contentTypes.length > 0 ? contentTypes : ['']).includes(contentType)) {
    return `answers ${contentType} and documents ${contentTypes.join(', ')}`;
  }
  if (request.method === 'HEAD') return null;
  if (contentType === 'text/event-stream')
    return judgeEvents(document, documented.schema, body.toString());
  if (contentType !== 'application/json') return null;
  const value = parseJson(body);
  return value === undefined
    ? 'answers something that is not JSON'
    : schemaProblem(value, documented.schema, document);
}

/** Returns a content type without parameters such as the charset. */
function mediaType(contentType: string): string {
  return contentType.split(';')[0] ?? '';
}

function judgeEvents(document: Schema, schema: Schema, text: string): string | null {
  for (const [, data = ''] of text.matchAll(/^event: payment\ndata: (.*)\n\n/gm)) {
    const problem = schemaProblem(JSON.parse(data), schema, document);
    if (problem) return problem;
  }
  return text.startsWith(': open\n') ? null : 'the stream does not begin';
}

function judgeError(operation: Operation | null, { status, headers, body }: Answer): string | null {
  const value = parseJson(body);
  if (value === undefined) return `answers ${status} with something that is not JSON`;
  if (!headers.get('content-type')?.startsWith('application/json'))
    return `answers ${status} as ${headers.get('content-type')}`;
  // What the protocol of agents refuses is said in its own form.
  const isProtocols = operation?.path === '/mcp' && status === 400;
  if (isProtocols && Object.keys(value ?? {}).includes('jsonrpc')) return null;
  if (value === null || Object.keys(value).sort().join() !== 'code,data,msg,sensitive')
    return 'the error has other members';
  const { code, msg } = value as { code: unknown; msg: unknown };
  if (typeof msg !== 'string' || msg === '') return 'the error has no sentence';
  if (code === ERRORS.internal.code) return 'internal error';
  const row = Object.values(ERRORS).find((one) => one.code === code);
  const variant = code === ERRORS.rejected.code && REJECTED_VARIANTS.has(status);
  if (!row || (row.httpStatus !== status && !variant))
    return `error ${code} with status ${status} is not in the table`;
  // A known path with an unknown method is answered with 405.
  if (status === 405) return operation === null ? null : 'does not answer a documented method';
  const documented = (operation?.errors ?? NOWHERE).get(status) ?? [];
  return documented.includes(row.code)
    ? null
    : `error ${code} with status ${status} is not documented here`;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
