/** The JSON and the errors of LND's REST interface, for all files of the fake. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** An error answer of LND by gRPC code; the gateway derives the HTTP status from the code. */
export class LndError extends Error {
  override readonly name = 'LndError';
  constructor(
    message: string,
    /** LND gives most errors code 2, "unknown". */
    readonly grpcCode = 2,
  ) {
    super(message);
  }
}

/** The HTTP status of a gRPC code (runtime.HTTPStatusFromCode of grpc-gateway v2). */
export function httpStatusOf(grpcCode: number): number {
  return HTTP_STATUS[grpcCode] ?? 500;
}
const HTTP_STATUS: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  12: 501,
  14: 503,
  16: 401,
};

/** The fields of a request, from its path, query or body. A field left out has its zero value. */
export class Input {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields;
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  names(): string[] {
    return Object.keys(this.#fields);
  }

  text(name: string): string {
    return this.has(name) ? String(this.#fields[name]) : '';
  }

  bool(name: string): boolean {
    return this.text(name) === 'true';
  }

  /** A 64-bit integer, which protobuf's JSON allows as a string or a number. */
  int(name: string): bigint {
    const text = this.text(name) || '0';
    if (!/^-?\d+$/.test(text)) throw new LndError(`proto: invalid value for field ${name}`, 3);
    return BigInt(text);
  }

  /** Bytes in base64 of either alphabet. */
  bytes(name: string): Buffer {
    return Buffer.from(this.text(name).replace(/-/g, '+').replace(/_/g, '/'), 'base64');
  }

  object(name: string): Input {
    return new Input((this.#fields[name] ?? {}) as Record<string, unknown>);
  }

  list(name: string): Input[] {
    const items = (this.#fields[name] ?? []) as Record<string, unknown>[];
    return items.map((item) => new Input(item));
  }
}

/** One call of a method. */
export interface Call {
  readonly input: Input;
  /** Aborts when the caller disconnects or the node stops. */
  readonly signal: AbortSignal;
}

interface Method {
  readonly http: 'GET' | 'POST' | 'DELETE';
  /** The path with {names} of fields in it. */
  readonly path: string;
  /** The full gRPC name, as in `uri` permissions. */
  readonly rpc: string;
  /**
   * The operations that a macaroon without a `uri` permission for the method needs; null when no macaroon is needed.
   */
  readonly needs: readonly string[] | null;
}
export interface UnaryMethod extends Method {
  readonly answer: (call: Call) => JsonObject;
}
export interface StreamMethod extends Method {
  readonly items: (call: Call) => AsyncGenerator<JsonObject>;
}
export type RpcMethod = UnaryMethod | StreamMethod;

/** Hex as base64, which LND's JSON uses for bytes. */
export function base64Of(hexText: string): string {
  return Buffer.from(hexText, 'hex').toString('base64');
}
