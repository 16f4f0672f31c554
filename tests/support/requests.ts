import { expect } from 'bun:test';
import { ERRORS, type ErrorName } from '../../src/model/errors.ts';

/** An answer of the sidecar. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}
/** JSON whose members the tests look at one by one. */
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

/** An answer other than 2xx. */
export class CallFailed extends Error {
  constructor(
    readonly status: number,
    readonly body: { code: number; msg: string },
  ) {
    super(`${status} ${JSON.stringify(body)}`);
  }
}

/** Calls the sidecar; throws on a refused connection and on an answer that is not JSON. */
export async function send(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
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
  const { status, headers: answered } = response;
  const text = await response.text();
  // A table is no JSON.
  const isTable = answered.get('content-type')?.startsWith('text/csv') ?? false;
  return { status, headers: answered, body: (isTable ? text : JSON.parse(text)) as Body };
}

/** {@link send} for calls that must succeed: the body of a 2xx; throws {@link CallFailed} on every other. */
export async function sendOk(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Body> {
  const { status, body } = await send(baseUrl, method, path, options);
  if (status < 200 || status > 299) throw new CallFailed(status, body);
  return body;
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

/** Calls that must succeed, by method. */
export interface SucceedingCalls {
  post(path: string, body?: unknown, credentials?: string): Promise<Body>;
  get(path: string, query?: Readonly<Record<string, string>>, credentials?: string): Promise<Body>;
  put(path: string, body?: unknown, credentials?: string): Promise<Body>;
}

/** Calls that answer the body, and throw for every status but 200. */
export function succeedingCalls(
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>,
): SucceedingCalls {
  const done = async (method: string, path: string, options: CallOptions): Promise<Body> => {
    const answer = await call(method, path, options);
    if (answer.status === 200) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  return {
    post: (path, body = {}, credentials) => done('POST', path, { body, credentials }),
    get: (path, query = {}, credentials) => done('GET', path, { query, credentials }),
    put: (path, body = {}, credentials) => done('PUT', path, { body, credentials }),
  };
}
