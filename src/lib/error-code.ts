/** Returns the code of an error of the system or of SQLite, such as `ENOSPC`. Empty for an error without a code. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
