interface FailedCall {
  /** Whether the sidecar may have done what the call asked for, although the call failed. */
  readonly mayHaveTakenEffect?: boolean;
  /** Whether it was rejected for having no credentials, so that this call, unlike one before, has done nothing. */
  readonly wasNobody?: boolean;
  /** The API's code of the error; absent for other outcomes. */
  readonly code?: number | null;
  /** The API's error as JSON, for `--json`; absent in the output for people. */
  readonly json?: string;
}

/** An error answer of the sidecar, with the sidecar's own sentence, or another outcome with exit code 1. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly mayHaveTakenEffect: boolean;
  readonly wasNobody: boolean;
  readonly code: number | null;
  readonly json: string | null;

  constructor(message: string, call: FailedCall = {}) {
    super(message);
    this.mayHaveTakenEffect = call.mayHaveTakenEffect ?? false;
    this.wasNobody = call.wasNobody ?? false;
    this.code = call.code ?? null;
    this.json = call.json ?? null;
  }
}
