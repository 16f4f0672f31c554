/** What is known of a call that did not succeed. */
interface RefusedCall {
  /** Whether the request may have taken effect all the same. */
  readonly outcomeUnknown?: boolean;
  /** The error as the API answered it, for `--json`; absent where people read. */
  readonly json?: string;
}

/** A call that the sidecar refused, in its own words, or an outcome that ends with exit code 1. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly outcomeUnknown: boolean;
  readonly json: string | null;

  constructor(message: string, call: RefusedCall = {}) {
    super(message);
    this.outcomeUnknown = call.outcomeUnknown ?? false;
    this.json = call.json ?? null;
  }
}
