/** After this many seconds without progress a connection is closed, unless a request on it is being worked on. */
export const IDLE_SECS = 60;
