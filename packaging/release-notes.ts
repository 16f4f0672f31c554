/**
 * Returns what the change log says of a version, without its heading. Throws where it says nothing: a release without
 * notes leaves those who upgrade without a warning.
 */
export function notesOf(changelog: string, version: string): string {
  const found = changelog.split(/^## /m).find((section) => section.startsWith(`[${version}]`));
  const text = found?.slice(found.indexOf('\n')).trim();
  if (!text)
    throw new Error(`CHANGELOG.md says nothing of ${version}: write it before the release.`);
  return `${text}\n`;
}
