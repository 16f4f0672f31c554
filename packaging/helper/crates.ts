import { dirname } from 'node:path';
import { $ } from 'bun';
import { HELPER_PLATFORMS } from './targets.ts';

/** A crate as `cargo metadata` tells of it. */
export interface Crate {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string | null;
  readonly authors: readonly string[];
  readonly manifest_path: string;
  readonly targets: readonly { readonly kind: readonly string[] }[];
}

/** What `cargo metadata` prints, as far as it is read. */
export interface Metadata {
  readonly packages: readonly Crate[];
  readonly resolve: {
    readonly root: string;
    readonly nodes: readonly {
      readonly id: string;
      readonly deps: readonly {
        readonly pkg: string;
        readonly dep_kinds: readonly { readonly kind: string | null }[];
      }[];
    }[];
  };
}

/** Returns the crates that are linked into the helper on any platform, by name. Needs cargo, which may download some. */
export async function cratesOfHelper(folder: string): Promise<Crate[]> {
  const found = new Map<string, Crate>();
  for (const target of HELPER_PLATFORMS.values()) {
    const metadata: Metadata =
      await $`cargo metadata --locked --format-version 1 --filter-platform ${target}`
        .cwd(folder)
        .quiet()
        .json();
    for (const crate of linkedCrates(metadata)) found.set(crate.id, crate);
  }
  const key = ({ name, version }: Crate) => `${name} ${version}`;
  return [...found.values()].toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Returns what is linked into the root: not what only builds it or is only run while it is compiled. */
export function linkedCrates({ packages, resolve }: Metadata): Crate[] {
  const crates = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const seen = new Set<string>();
  const visit = (id: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    for (const { pkg, dep_kinds } of nodes.get(id)?.deps ?? []) {
      const runsInCompiler = crates.get(pkg)?.targets.some(({ kind }) => kind[0] === 'proc-macro');
      if (!runsInCompiler && dep_kinds.some(({ kind }) => kind === null)) visit(pkg);
    }
  };
  visit(resolve.root);
  seen.delete(resolve.root);
  return [...seen].flatMap((id) => crates.get(id) ?? []);
}

/** The folder of a crate's sources. */
export const folderOf = ({ manifest_path }: Crate) => dirname(manifest_path);
