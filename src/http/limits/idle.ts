/**
 * After this many seconds without progress a connection is closed, unless a request on it is being worked on. One that
 * has not sent the whole head of a request is closed by the runtime within 30 (docs/decisions.md 177).
 */
export const IDLE_SECS = 60;
