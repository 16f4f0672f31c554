import { ERRORS, type ErrorBody, type Issue } from '../src/model/errors.ts';
import { diceOf } from './dice.ts';
import { type Operation, operationsOf } from './operations.ts';
import { asksStrangers } from './strangers.ts';
import { reasonFor } from './verdict-reasons.ts';
import { type VerdictRequest, verdictRequest } from './verdict-requests.ts';
import { type FuzzWorld, openFuzzWorld } from './world.ts';

/**
 * A request that fits its schema, and has no answer within this time, was accepted: a held payment does not end, and a
 * wait may be long. One that does not fit has a longer time, so that a busy machine is not taken for a server that
 * accepts it.
 */
const ACCEPTED_AFTER_MS = 3000;
const REFUSED_WITHIN_MS = 30_000;
const ENOUGH = 25;
/** Endpoints that are left out, because they would take minutes or change the clock for all other requests. */
const LEFT_OUT = new Set(['/sandbox/blocks', '/sandbox/clock', '/metrics', '/docs']);

/** Statuses of requests that are too large for any endpoint. */
const LIMITS = new Set([413, 414, 431]);

/** A request on which schema and server do not agree. */
export interface VerdictFinding {
  readonly round: number;
  readonly request: string;
  readonly schema: string;
  readonly server: string;
}

/** The findings of a comparison. */
export interface VerdictReport {
  readonly findings: readonly VerdictFinding[];
  readonly requests: number;
  /** How many requests do not fit the schema. */
  readonly refused: number;
  /** How often each reason of the list was needed. */
  readonly reasons: Readonly<Record<string, number>>;
}

/**
 * Makes `requests` requests at the limits of the OpenAPI document, and compares the document with the server: a request
 * is error 7 exactly when it does not fit its schema, except for the rules of the list of reasons.
 */
export async function compareVerdicts(options: {
  readonly seed: number;
  readonly requests: number;
}): Promise<VerdictReport> {
  const world = await openFuzzWorld();
  try {
    return await compare(world, options);
  } finally {
    await world.close();
  }
}

async function compare(
  world: FuzzWorld,
  { seed, requests }: { readonly seed: number; readonly requests: number },
): Promise<VerdictReport> {
  const operations = operationsOf(world.document).filter(
    ({ path, body, query }) => !LEFT_OUT.has(path) && (body !== null || query.length > 0),
  );
  const findings: VerdictFinding[] = [];
  const reasons: Record<string, number> = {};
  let refused = 0;
  for (let round = 0; round < requests && findings.length < ENOUGH && world.alive(); round++) {
    const dice = diceOf(seed, round);
    const operation = dice.pick(operations);
    const request = verdictRequest({ ...world, dice, secrets: [] }, operation);
    if (asks(request)) continue;
    // A body of null counts as an empty one, which the schema of an object cannot say without being one of null too.
    if (request.body === null) continue;
    if (request.problem !== null) refused++;
    const rejected = await rejectedField(world, operation, request);
    if (rejected === 'too large') continue;
    if ((rejected !== null) === (request.problem !== null)) continue;
    const reason = rejected === null ? null : reasonFor(request, rejected.field);
    if (reason !== null) {
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      continue;
    }
    const { method, path, query, body, headers } = request;
    findings.push({
      round,
      request: `${method} ${path} ${JSON.stringify({ query, body, headers })}`.slice(0, 2000),
      schema: request.problem ?? 'accepts it',
      server: rejected?.msg ?? 'accepts it',
    });
  }
  return { findings, requests, refused, reasons };
}

function asks({ path, query, body }: VerdictRequest): boolean {
  const text = JSON.stringify(body ?? {});
  return asksStrangers({
    target: `${path}?${new URLSearchParams(query)}`,
    body: new TextEncoder().encode(text),
  });
}

interface Rejection {
  readonly field: string;
  readonly msg: string;
}

/** Returns the field that error 7 names, `too large` for the limits of every request, and null for any other answer. */
async function rejectedField(
  { port, pool }: FuzzWorld,
  { group }: Operation,
  request: VerdictRequest,
): Promise<Rejection | 'too large' | null> {
  const { method, path, query, body, headers } = request;
  const url = `http://127.0.0.1:${port}${path}?${new URLSearchParams(query)}`;
  const signal = AbortSignal.timeout(
    request.problem === null ? ACCEPTED_AFTER_MS : REFUSED_WITHIN_MS,
  );
  try {
    const response = await fetch(url, {
      method,
      signal,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(group === 'send' ? { prefer: 'wait=0' } : {}),
        // The console's sign-in reads a body only of the page of this sidecar.
        ...(path.startsWith('/v2/console/') ? { origin: `http://127.0.0.1:${port}` } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // The server's own parser refuses a head that is too long, without JSON.
    if (LIMITS.has(response.status)) return 'too large';
    // Neither streams of events nor rows are read.
    if (!response.headers.get('content-type')?.startsWith('application/json')) {
      await response.body?.cancel();
      return null;
    }
    const answer = (await response.json()) as ErrorBody;
    if (response.ok) pool.harvest(answer);
    if (answer.code !== ERRORS.rejected.code) return null;
    const { issues } = answer.data as { issues: readonly Issue[] };
    return { field: issues[0]?.path ?? '', msg: answer.msg };
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
