/** Text that others chose, safe for a terminal: control and format characters become visible escapes. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
