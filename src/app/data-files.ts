/** The name of the store's file in the data directory. */
export const STORE_FILE = 'sidecar.sqlite';
/** The name of the file of the sandbox's world there. */
export const SANDBOX_FILE = 'sandbox.sqlite';
/** The name of the trial wallet's seed there, without which nobody has its worthless coins. */
export const TRIAL_SEED_FILE = 'dev-root-seed';
/** The name of the folder of the LDK node's state there, which must never come back from a copy. */
export const LDK_FOLDER = 'ldk';
