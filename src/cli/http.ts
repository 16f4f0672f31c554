import type { z } from 'zod';
import { WalletSidecar, WalletSidecarError } from '../client/index.ts';
import { CallRefused } from './call-refused.ts';
import { type Connection, type ConnectionFlags, connectionOf, isLocal } from './connection.ts';
import type { CliIo } from './io.ts';
import { printable, printableJson } from './terminal/printable.ts';

/** A good answer. */
export interface Answer<T> {
  /** The JSON of the API, safe for a terminal. */
  readonly json: string;
  readonly value: T;
}

/**
 * Makes one call of a running sidecar and reads its answer, which is checked: what answers may be any server. Throws
 * {@link CallRefused}.
 */
export type AskSidecar = <S extends z.ZodType>(
  call: (sidecar: WalletSidecar) => Promise<unknown>,
  schema: S,
) => Promise<Answer<z.output<S>>>;

const UNAUTHORIZED = 401;
const NO_COOKIE =
  'Give --client-credentials-path, or name the data directory of the sidecar on this machine with --data-dir, so that its cookie is found.';

/** Bun's fetch obeys these for loopback too. */
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** A client of the sidecar that flags, environment or `.env` name. */
export function sidecarClient(io: CliIo, flags: ConnectionFlags): AskSidecar {
  const connection = connectionOf(io, flags);
  const { baseUrl, token } = connection;
  // A proxy would read what is meant for this machine alone; this process speaks to no other address.
  if (isLocal(baseUrl)) for (const name of PROXIES) delete process.env[name];
  const sidecar = new WalletSidecar({
    url: baseUrl,
    credentials: token ?? undefined,
    // Whether to try again is for whoever runs the command to say.
    maxRetries: 0,
    // A wait or a payment may take hours.
    fetch: (url, init) => fetch(url, { ...init, timeout: false }),
    onIgnoredFields: ({ names }) =>
      io.stderr(
        `The sidecar does not know these fields of the request and ignored them: ${printable(names.join(', '))}. Is it an older version?`,
      ),
  });
  return async (call, schema) => {
    const answer = await call(sidecar).catch((error: unknown) => {
      if (!(error instanceof WalletSidecarError)) throw error;
      const { mayHaveTakenEffect } = error;
      const json = flags.json && error.kind === 'refused' ? { json: jsonText(error.body) } : {};
      throw new CallRefused(sentenceOf(error, connection), { mayHaveTakenEffect, ...json });
    });
    const read = schema.safeParse(answer);
    if (read.success) return { json: jsonText(answer), value: read.data };
    throw new CallRefused(foreignSentence(connection), { mayHaveTakenEffect: true });
  };
}

/** What went wrong and what to do, in the words of the command line. */
function sentenceOf(error: WalletSidecarError, connection: Connection): string {
  const { origin } = new URL(connection.baseUrl);
  switch (error.kind) {
    case 'refused': {
      const noCookie = error.httpStatus === UNAUTHORIZED && !connection.given;
      const sentence = `${error.message.replace(/\.$/, '')} (error ${error.code}).`;
      return noCookie ? `${sentence} ${NO_COOKIE}` : sentence;
    }
    case 'foreign':
      return foreignSentence(connection);
    case 'unreachable':
      return `No sidecar answers at ${origin}: start one, or name it with --url.`;
    case 'unanswered': {
      const advice = error.mayHaveTakenEffect
        ? 'see what came of it before you try again'
        : 'try again';
      return `The connection to ${origin} broke before the answer came: ${advice}.`;
    }
  }
}

function foreignSentence({ baseUrl }: Connection): string {
  return `What answers at ${baseUrl} does not speak like a wallet-sidecar of this version: check --url.`;
}

function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value));
}
