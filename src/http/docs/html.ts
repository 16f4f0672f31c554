/** Text as HTML shows it. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text in which code stands between backticks. */
export function prose(value: string): string {
  return text(value).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Text as code. */
export function code(value: string): string {
  return `<code>${text(value)}</code>`;
}

/** A table with a heading above each column. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = headings.map((heading) => `<th scope="col">${text(heading)}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table class="t${headings.length}"><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
