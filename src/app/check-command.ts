/**
 * The first argument of a process that this program starts to read a database from end to end. It is not a command for
 * users.
 */
export const CHECK_COMMAND = 'internal-check-database';
