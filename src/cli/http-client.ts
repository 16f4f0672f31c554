import { z } from 'zod';
import { codeOf } from '../lib/error-code.ts';
import { CallRefused } from './call-refused.ts';
import { type ConnectionFlags, connectionOf, isLocal } from './connection.ts';
import type { CliIo } from './io.ts';
import { printable, printableJson } from './printable.ts';

/** One request to the sidecar. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** A good answer. */
export interface Answer<T> {
  /** The JSON as it was answered, safe for a terminal. */
  readonly json: string;
  readonly value: T;
}

/** Calls a running sidecar and reads its answer. Throws {@link CallRefused}. */
export type AskSidecar = <S extends z.ZodType>(
  call: Call,
  schema: S,
) => Promise<Answer<z.output<S>>>;

/** Codes under which Bun says that a connection was never made, so that nothing was asked of anybody. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
]);

/** From here on the fault is the server's; 501 alone says that nothing was tried. */
const SERVER_FAULT = 500;
const NOT_IMPLEMENTED = 501;

const UNAUTHORIZED = 401;
const NO_COOKIE =
  'Give --client-credentials-path, or name the data directory of the sidecar on this machine with --data-dir, so that its cookie is found.';

/** Bun's fetch obeys these for loopback too. */
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

const errorJson = z.object({ code: z.int(), msg: z.string() });

/** A client of the sidecar that flags, environment or `.env` name. */
export function sidecarClient(io: CliIo, flags: ConnectionFlags): AskSidecar {
  const { baseUrl, token, given } = connectionOf(io, flags);
  // A proxy would read what is meant for this machine alone; this process speaks to no other address.
  if (isLocal(baseUrl)) for (const name of PROXIES) delete process.env[name];
  return async (call, schema) => {
    const { status, text, ignored } = await send(`${baseUrl}${call.path}${queryText(call.query)}`, {
      method: call.method,
      // A wait or a payment may take hours, and another address must not be given the credentials.
      timeout: false,
      redirect: 'manual',
      headers: {
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    if (ignored !== null) {
      io.stderr(
        `The sidecar does not know these fields of the request and ignored them: ${printable(ignored)}. Is it an older version?`,
      );
    }
    const answer = readJson(text);
    const json = printableJson(text.trim());
    const outcomeUnknown = status >= SERVER_FAULT && status !== NOT_IMPLEMENTED;
    if (status >= 200 && status < 300) {
      const read = schema.safeParse(answer);
      if (read.success) return { json, value: read.data };
    }
    const refused = errorJson.safeParse(answer);
    if (!refused.success) {
      throw new CallRefused(
        `What answers at ${baseUrl} does not speak like a wallet-sidecar of this version: check --url.`,
        { outcomeUnknown: true },
      );
    }
    const { code, msg } = refused.data;
    const hint = status === UNAUTHORIZED && !given ? ` ${NO_COOKIE}` : '';
    throw new CallRefused(`${msg.replace(/\.$/, '')} (error ${code}).${hint}`, {
      outcomeUnknown,
      ...(flags.json ? { json } : {}),
    });
  };
}

async function send(
  url: string,
  init: BunFetchRequestInit,
): Promise<{ status: number; text: string; ignored: string | null }> {
  try {
    const response = await fetch(url, init);
    const ignored = response.headers.get('x-ignored-fields');
    return { status: response.status, text: await response.text(), ignored };
  } catch (error) {
    const { origin } = new URL(url);
    if (NEVER_CONNECTED.has(codeOf(error))) {
      throw new CallRefused(`No sidecar answers at ${origin}: start one, or name it with --url.`);
    }
    const advice = init.method === 'GET' ? 'try again' : 'see what came of it before you try again';
    throw new CallRefused(`The connection to ${origin} broke before the answer came: ${advice}.`, {
      outcomeUnknown: true,
    });
  }
}

function queryText(query: Call['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
