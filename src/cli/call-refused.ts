/** What is known of a call that did not succeed. */
interface RefusedCall {
  /** Whether what was asked may have been done all the same. */
  readonly mayHaveTakenEffect?: boolean;
  /** The error as the API answered it, for `--json`; absent where people read. */
  readonly json?: string;
}

/** A call that the sidecar refused, in its own words, or an outcome that ends with exit code 1. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly mayHaveTakenEffect: boolean;
  readonly json: string | null;

  constructor(message: string, call: RefusedCall = {}) {
    super(message);
    this.mayHaveTakenEffect = call.mayHaveTakenEffect ?? false;
    this.json = call.json ?? null;
  }
}
