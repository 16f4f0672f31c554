/**
 * Returns bytes in the form of `.xz`, by the program of that name. It runs with one thread, since several make other
 * bytes on other machines. Throws a sentence where it is missing or fails.
 */
export async function xzPacked(bytes: Uint8Array): Promise<Uint8Array> {
  if (Bun.which('xz') === null) throw new Error('xz is missing: install it (package xz-utils).');
  const child = Bun.spawn(['xz', '--compress', '--stdout', '-6', '--threads=1'], {
    stdin: bytes,
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const packed = await new Response(child.stdout).bytes();
  if ((await child.exited) !== 0) throw new Error('xz has failed, as it says above.');
  return packed;
}
