/** Escapes text for HTML. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Escapes text for HTML, and shows what stands between backticks as code. */
export function prose(value: string): string {
  return text(value).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Returns HTML of this folder, such as a table's cell, as Markdown. */
export function markdown(html: string): string {
  return html
    .replace(/<\/?code>/g, '`')
    .replace(/`<wbr>`|<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)));
}

/** Returns escaped text as an HTML code element. */
export function code(value: string): string {
  return `<code>${text(value)}</code>`;
}

/** Returns an HTML table with one heading for each column. Headings and cells are HTML. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = headings.map((heading) => `<th scope="col">${text(heading)}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
  return `<table class="t${headings.length}"><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}
