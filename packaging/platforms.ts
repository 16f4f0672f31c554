/** The binaries of a release: the file's name, and the compiler's name of the platform. */
export const BINARIES = {
  'wallet-sidecar-linux-x64': 'bun-linux-x64',
  'wallet-sidecar-linux-arm64': 'bun-linux-arm64',
  'wallet-sidecar-darwin-x64': 'bun-darwin-x64',
  'wallet-sidecar-darwin-arm64': 'bun-darwin-arm64',
  'wallet-sidecar-windows-x64.exe': 'bun-windows-x64',
} as const;

/** Whether a binary's name says that it is for Windows. */
export function isForWindows(binary: string): boolean {
  return binary.endsWith('.exe');
}

/**
 * Returns the names of the archives that a binary is published in. Without its ending, each is the folder within. The
 * `.tar.xz` is a quarter smaller; the `.tar.gz` is for machines that cannot read it.
 */
export function archivesOf(binary: string): string[] {
  if (isForWindows(binary)) return [`${binary.replace(/\.exe$/, '')}.zip`];
  return [`${binary}.tar.gz`, `${binary}.tar.xz`];
}
