/** The answer's header that names the ignored fields of a request (docs/decisions.md 17). */
export const IGNORED_FIELDS_HEADER = 'X-Ignored-Fields';

const MOST_NAMES = 20;
const MOST_BYTES = 1024;

/**
 * Writes the paths of ignored fields as a list of strings (RFC 9651, section 3.1). Each name is percent-encoded, and
 * the names of nested fields are joined by dots. The list has at most 20 paths and 1 KiB. It never contains a value.
 */
export function ignoredFieldsHeader(paths: readonly (readonly string[])[]): string {
  let header = '';
  for (const path of paths.slice(0, MOST_NAMES)) {
    const longer = `${header}${header === '' ? '' : ', '}"${path.map(encodeName).join('.')}"`;
    // A name that does not fit must not hide the ones after it.
    if (longer.length <= MOST_BYTES) header = longer;
  }
  return header;
}

function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll('.', '%2E');
}
