/** A file of an archive. Archives keep neither times nor owners, so that the same files make the same bytes. */
export interface ArchivedFile {
  /** With `/` between folders. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/** The time of every file of an archive: the earliest that the zip format knows. */
export const ARCHIVE_TIME = new Date('1980-01-01T00:00:00Z');

/** Returns files in the order of their names, which does not depend on the machine's language. */
export function byPath(files: readonly ArchivedFile[]): ArchivedFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the permissions of a file, as Unix has them. */
export function modeOf({ isExecutable }: ArchivedFile): number {
  return isExecutable ? 0o755 : 0o644;
}
