/** The code of a system's or SQLite's error, such as `ENOSPC`; empty for what has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
