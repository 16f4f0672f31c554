/** Thrown for a database that cannot or must not be used as it is. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}
