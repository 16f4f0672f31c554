/** Makes text of others safe for a terminal: control and format characters become visible escapes. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Makes JSON text safe for a terminal without changing its value. JSON allows C1 controls and format characters in
 * strings, so they become JSON escapes. White space between members stays.
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
