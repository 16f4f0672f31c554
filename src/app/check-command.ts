/** The first argument of our own process that reads a database from end to end; no command for users. */
export const CHECK_COMMAND = 'internal-check-database';
