/** Text that others chose, safe for a terminal: control and format characters become visible escapes. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * JSON text with the same value, safe for a terminal: JSON leaves C1 controls and format characters as they are, so
 * they become the escapes that JSON itself has for them. White space between the members stays.
 */
export function printableJson(json: string): string {
  return json.replace(/[^\P{C}\n\r\t]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => unitEscape(character.charCodeAt(at))).join(
      '',
    ),
  );
}

function unitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
