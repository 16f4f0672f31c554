import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The name that the guide gives to a user of the operating system. */
const IN_GUIDE = /\bagent\b/g;

/** Stands for sudo where the test is root: runs a command as root, or by `-iu USER` in the home of that user. */
const SUDO = `#!/bin/sh
[ "$1" = -iu ] || exec "$@"
user=$2 home=$(getent passwd "$2" | cut -d: -f6)
shift 2
cd "$home" && exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups \\
  env -i PATH="$PATH" HOME="$home" SERVICE_LISTEN_ADDR="$SERVICE_LISTEN_ADDR" "$@"
`;

/** Why a guide that makes a user of the operating system cannot be followed here; null where it can. */
export function whyNoOtherUser(): string | null {
  if (process.platform !== 'linux') return 'users are made in another way on this system';
  if (process.getuid?.() !== 0) return 'only root makes users';
  const missing = ['useradd', 'userdel', 'setpriv', 'getent', 'install'].find(
    (program) => Bun.which(program) === null,
  );
  return missing === undefined ? null : `there is no ${missing}`;
}

/** A user of the operating system for one run of a guide, whom the guide itself makes. */
export interface OtherUser {
  /** The folder with `sudo`, to be searched first. */
  readonly path: string;
  /** Returns a script with the name of this user, who is nobody that this machine has already. */
  readonly inScript: (script: string) => string;
  /** Removes the user, where the guide has made it. */
  remove(): void;
}

/** Prepares for a guide that makes a user. `folder` is a temporary one of this run. */
export function otherUser(folder: string): OtherUser {
  const path = join(folder, 'bin');
  mkdirSync(path);
  writeFileSync(join(path, 'sudo'), SUDO);
  chmodSync(join(path, 'sudo'), 0o755);
  const name = `wallet-agent-${process.pid}`;
  return {
    path,
    inScript: (script) => script.replaceAll(IN_GUIDE, name),
    remove: () => void Bun.spawnSync(['userdel', '--remove', name], { stderr: 'ignore' }),
  };
}
