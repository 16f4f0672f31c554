/** The shapes in which LND's REST interface speaks; what every file of the fake shares. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** A refusal as a gRPC status; the gateway makes an HTTP status of its code. */
export class LndError extends Error {
  override readonly name = 'LndError';
  constructor(
    message: string,
    /** 2, "unknown", is what LND gives for most. */
    readonly grpcCode = 2,
  ) {
    super(message);
  }
}

/** runtime.HTTPStatusFromCode of grpc-gateway v2. */
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

  /** A 64-bit integer: a string or a number, as protobuf's JSON allows. */
  int(name: string): bigint {
    const text = this.text(name) || '0';
    if (!/^-?\d+$/.test(text)) throw new LndError(`proto: invalid value for field ${name}`, 3);
    return BigInt(text);
  }

  /** Base64, of either alphabet. */
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
  /** Aborts when the caller leaves or the node stops. */
  readonly signal: AbortSignal;
}

interface Method {
  readonly http: 'GET' | 'POST' | 'DELETE';
  /** With {names} of fields in it. */
  readonly path: string;
  /** Full gRPC name, as `uri` permissions have it. */
  readonly rpc: string;
  /** What a macaroon needs that has no `uri` permission for it; null needs no macaroon. */
  readonly needs: readonly string[] | null;
}
export interface UnaryMethod extends Method {
  readonly answer: (call: Call) => JsonObject;
}
export interface StreamMethod extends Method {
  readonly items: (call: Call) => AsyncGenerator<JsonObject>;
}
export type RpcMethod = UnaryMethod | StreamMethod;

/** Bytes of hex as LND's JSON has them. */
export function base64Of(hexText: string): string {
  return Buffer.from(hexText, 'hex').toString('base64');
}
