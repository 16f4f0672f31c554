import { expect } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { ERRORS, type ErrorName } from '../../src/model/errors.ts';
import type { PaymentJson } from '../../src/model/payment.ts';
import { type FaultSidecar, freePort, startFaultSidecar } from '../faults/sidecar.ts';

/** An answer of the sidecar. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}
/** JSON whose members the tests look at one by one; the schemas have checked its shape before. */
export type Body = ReturnType<JSON['parse']>;

/** What a call sends besides method and path. */
export interface CallOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly credentials?: string | undefined;
  readonly rawBody?: string;
  readonly signal?: AbortSignal;
}

/** The compiled binary on a sandbox of its own, with a funded default wallet and a second one. */
export interface ConformanceWorld {
  readonly baseUrl: string;
  readonly port: number;
  readonly dataDir: string;
  /** Credentials of the second wallet, scope full. */
  readonly bob: string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** POST with a body, which must succeed. */
  post(path: string, body?: unknown, credentials?: string): Promise<Body>;
  /** GET, which must succeed. */
  get(path: string, query?: Readonly<Record<string, string>>, credentials?: string): Promise<Body>;
  put(path: string, body?: unknown, credentials?: string): Promise<Body>;
  restart(): Promise<void>;
  sidecar(): FaultSidecar;
  close(): Promise<void>;
}

/** Routes that some conformance test has called; the last file looks whether any is missing. */
export const calledRoutes = new Set<string>();

/** Opens a world; the binary must have been built (`npm test` does). */
export async function openConformanceWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), 'wallet-sidecar-conformance-'));
  const port = freePort();
  const options = { dataDir: join(dataDir, 'data'), port, ...(webhookUrl ? { webhookUrl } : {}) };
  let sidecar = await startFaultSidecar(options);
  const { baseUrl } = sidecar;
  const call = (method: string, path: string, given: CallOptions = {}) =>
    request(baseUrl, method, path, given);
  const done = async (method: string, path: string, given: CallOptions): Promise<Body> => {
    const answer = await call(method, path, given);
    if (answer.status !== 200) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  const world: ConformanceWorld = {
    baseUrl,
    port,
    dataDir: options.dataDir,
    bob: '',
    call,
    post: (path, body = {}, credentials) => done('POST', path, { body, credentials }),
    get: (path, query = {}, credentials) => done('GET', path, { query, credentials }),
    put: (path, body = {}, credentials) => done('PUT', path, { body, credentials }),
    async restart() {
      expect(await sidecar.stop()).toBe(0);
      sidecar = await startFaultSidecar(options);
    },
    sidecar: () => sidecar,
    async close() {
      await sidecar.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  const { client_credentials } = await world.post('/sandbox/wallets');
  return { ...world, bob: client_credentials as string };
}

/** Expects the documented error: HTTP status, code, a sentence, and no secret. */
export function expectError(
  answer: Answer,
  name: ErrorName,
  message?: RegExp,
  status?: number,
): void {
  expect(answer.body).toMatchObject({ code: ERRORS[name].code, sensitive: false });
  expect(answer.status).toBe(status ?? ERRORS[name].httpStatus);
  expect(Object.keys(answer.body).toSorted()).toEqual(['code', 'data', 'msg', 'sensitive']);
  expect(String(answer.body.msg)).toMatch(message ?? /\w/);
}

/** A payment as answers carry it. */
export function asPayment(body: Body): PaymentJson {
  return body as unknown as PaymentJson;
}

async function request(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions,
): Promise<Answer> {
  const query = options.query ? `?${new URLSearchParams(options.query)}` : '';
  const body =
    options.rawBody ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const response = await fetch(`${baseUrl}${path}${query}`, {
    method,
    body,
    ...(options.signal ? { signal: options.signal } : {}),
    headers: {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(options.credentials ? { authorization: `Bearer ${options.credentials}` } : {}),
      ...options.headers,
    },
  });
  const text = await response.text();
  const parsed = JSON.parse(text) as Body;
  checkShape(method, path, response.status, parsed);
  return { status: response.status, headers: response.headers, body: parsed };
}

/** Every good answer is held against the schema that the documentation is made from. */
function checkShape(method: string, path: string, status: number, body: unknown): void {
  const route = [...ROUTES, ...SANDBOX_ROUTES].find(
    (one) => one.method.toUpperCase() === method && pattern(one.path).test(path),
  );
  if (!route) return;
  if (status < 500) calledRoutes.add(`${route.method} ${route.path}`);
  if (status === 200 || status === 202) route.response.parse(body);
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
}
