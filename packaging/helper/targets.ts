import type { BINARIES } from '../platforms.ts';

/** A binary of a release. */
type Binary = keyof typeof BINARIES;

/** The binaries that the LDK node is in, each with Rust's name of its platform. The node does not run on Windows yet. */
const RUST_TARGETS: Readonly<Partial<Record<Binary, string>>> = {
  'wallet-sidecar-linux-x64': 'x86_64-unknown-linux-gnu',
  'wallet-sidecar-linux-arm64': 'aarch64-unknown-linux-gnu',
  'wallet-sidecar-darwin-x64': 'x86_64-apple-darwin',
  'wallet-sidecar-darwin-arm64': 'aarch64-apple-darwin',
};

/** The oldest C library that the runtime of the binary works with, and so the LDK node too. */
export const OLDEST_GLIBC = '2.17';

/** The oldest macOS that the runtime of the binary works with. */
export const OLDEST_MACOS = '13.0';

/** The name of a helper's file in the folder of what was built; null: the one for the machine that builds. */
export function helperFile(platform: string | null): string {
  return platform === null ? 'ldk-helper.bin' : `ldk-helper-${platform}.bin`;
}

/** The licences of what is linked into every helper, in the same folder. */
export const HELPER_NOTICES = 'ldk-helper-notices.txt';

/** The platforms that a helper is built for, such as `linux-x64`, each with Rust's name of it. */
export const HELPER_PLATFORMS: ReadonlyMap<string, string> = new Map(
  Object.entries(RUST_TARGETS).map(([binary, target]) => [platformOf(binary), target]),
);

/** Returns the platform of a binary of a release, such as `linux-x64`. */
export function platformOf(binary: string): string {
  return binary.replace(/^wallet-sidecar-|\.exe$/g, '');
}
