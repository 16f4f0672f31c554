import { decodeCredentials } from '../model/credentials.ts';

/** Makes a request to this sidecar's own application. */
export type Ask = (path: string, init: RequestInit) => Promise<Response>;

/** Why a call is not done: status and sentence of its answer, and `code` and `data` of the application's error. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly data: {
      readonly sent?: string;
      readonly index?: string;
      readonly status?: string;
    } = {},
    readonly code: number | null = null,
  ) {
    super(message);
  }
}

type Texts = Readonly<Record<string, string>>;
type AskOptions = { readonly query?: Texts; readonly body?: object; readonly headers?: Texts };

/** One client of a wallet, in whose name the application is asked. */
export type Caller = ReturnType<typeof asking>;

/** One call of phoenixd's API. */
export interface Call {
  readonly caller: Caller;
  readonly form: Form;
  /** What the path names, such as the hash of a payment. */
  readonly id: string;
  /** Client and hash of each invoice that this process is paying: until the node has answered, no list has it. */
  readonly paying: Set<string>;
  readonly nowMs: number;
}

/**
 * Returns the client whose credentials are the password in the headers (RFC 7617), whatever the user name. Throws 401
 * for any other password: the owner's cookie and a node's token are not for programs (docs/decisions.md 199).
 */
export function callerOf(headers: Headers, send: Ask) {
  const basic = /^basic +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? '';
  const password = Buffer.from(basic, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
  const known = decodeCredentials(password);
  if (!known?.client || known.node !== null) {
    throw new Refusal(
      401,
      'Use HTTP Basic with the credentials of a client as the password: "wallet-sidecar clients create" makes them.',
    );
  }
  return asking(known.client.client, { authorization: `Bearer ${password}` }, send);
}

/** Returns the client of that public key, whose requests have these headers. */
export function asking(id: string, own: Texts, send: Ask) {
  /** Returns a successful answer. Throws {@link Refusal} for every other. */
  const ask = async (method: string, path: string, { query, body, headers }: AskOptions = {}) => {
    const json = body && { 'content-type': 'application/json' };
    const answer = await send(query ? `${path}?${new URLSearchParams(query)}` : path, {
      method,
      headers: { ...own, ...json, ...headers },
      body: body ? JSON.stringify(body) : null,
    });
    if (answer.ok) return answer;
    throw refusalOf(answer.status, await answer.text());
  };
  /** `ask` for the JSON of the answer, whose form is that of the route. */
  const read = async <T>(...given: Parameters<typeof ask>): Promise<T> =>
    (await ask(...given)).json() as Promise<T>;
  return { id, ask, read };
}

function refusalOf(status: number, text: string): Refusal {
  // A sidecar that is stopping may answer without a body.
  const { msg = 'There is no answer: try again.', code, data } = text ? JSON.parse(text) : {};
  return new Refusal(status, String(msg), data ?? {}, code);
}

/** The fields of a request. An empty text is none, as phoenixd's clients send it. */
export class Form {
  constructor(readonly fields: URLSearchParams) {
    const twice = [...fields.keys()].find((name) => fields.getAll(name).length > 1);
    if (twice !== undefined) throw new Refusal(400, `${twice}: is given twice`);
  }

  text(name: string): string | undefined {
    return this.fields.get(name) || undefined;
  }

  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw new Refusal(400, `${name}: is required`);
    return text;
  }

  /** A whole number in digits, such as an amount in sats or a time in milliseconds. */
  whole(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined || /^\d{1,15}$/.test(text)) return text;
    throw new Refusal(400, `${name}: must be a whole number`);
  }
}
