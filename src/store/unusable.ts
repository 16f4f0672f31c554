/** Thrown for a database that cannot or must not be used as it is. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}

/** What is said of a database whose rows are not signed although its marker says that they were. */
export const SIGNED_BEFORE =
  'The rows of the database are not signed, and its marker says that they were: it was changed or replaced. Restore the database from a backup. If you trust everything in it, clients and webhook endpoints too, remove the marker file, after which it is signed as it is, and confirm the budgets with "wallet-sidecar clients confirm".';
