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

/** Returns the name of the archive that a binary is published in; without its ending, it is the folder within. */
export function archiveOf(binary: string): string {
  return isForWindows(binary) ? `${binary.replace(/\.exe$/, '')}.zip` : `${binary}.tar.gz`;
}
