import { readFileSync } from 'node:fs';
import { OPTIONS } from '../config/options.ts';
import { settingLookup } from '../config/sources.ts';
import type { CliIo } from './io.ts';

/** Flags that every command which speaks to a running sidecar takes. */
export interface ConnectionFlags {
  readonly url?: string;
  readonly clientCredentials?: string;
  readonly clientCredentialsPath?: string;
}

/** A call that the sidecar refused, in its own words. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
}

/** Calls a running sidecar. */
export type CallSidecar = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
) => Promise<Record<string, unknown>>;

/** A client of the sidecar that flags, environment or `.env` name; throws {@link CallRefused}. */
export function sidecarClient(io: CliIo, flags: ConnectionFlags): CallSidecar {
  const find = settingLookup({
    flags: {
      'client-credentials': flags.clientCredentials,
      'client-credentials-path': flags.clientCredentialsPath,
    },
    env: io.env,
    cwd: io.cwd,
  });
  const listen = find('listenAddr')?.value ?? OPTIONS.listenAddr.fallback;
  const baseUrl = flags.url ?? find('sidecarUrl')?.value ?? `http://${listen}`;
  const path = find('clientCredentialsPath')?.value;
  const credentials =
    find('clientCredentials')?.value ??
    (path === undefined ? undefined : readFileSync(path, 'utf8').trim());
  return async (method, target, body) => {
    const response = await send(`${baseUrl}${target}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(credentials === undefined ? {} : { authorization: `Bearer ${credentials}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.ok) return answer;
    throw new CallRefused(`${String(answer.msg)} (error ${String(answer.code)})`);
  };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new CallRefused(
      `No sidecar answers at ${new URL(url).origin}: start one, or name it with --url.`,
    );
  }
}
