import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import packageJson from './package.json';

/** The platforms a release is built for, by the name of the file. */
const TARGETS = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
  'windows-x64': 'bun-windows-x64',
} as const;

const OUT = 'dist';
const BINARY = join(OUT, 'wallet-sidecar');
const INPUTS = ['src', 'package.json', 'package-lock.json', 'build.ts'];
const CLIENT = join(OUT, 'client');
const CLIENT_INPUTS = ['src/client', 'package.json', 'tsconfig.client.json', 'build.ts'];

const all = Bun.argv.includes('--all');
const force = all || Bun.argv.includes('--force');
await mkdir(OUT, { recursive: true });
if (force || !(await isFresh(join(CLIENT, 'package.json'), CLIENT_INPUTS))) await buildClient();
if (all) await buildRelease();
else if (force || !(await isFresh(BINARY, INPUTS))) await compile(BINARY);

/** Compiles one binary; without a target, for this machine. */
async function compile(outfile: string, target?: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: ['src/main.ts'],
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    format: 'esm',
    define: { WALLET_SIDECAR_VERSION: JSON.stringify(packageJson.version) },
    compile: {
      outfile,
      ...(target ? { target: target as Bun.Build.CompileTarget } : {}),
      // What lies beside a binary in the working directory is a stranger's: it must not be run or obeyed.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, 'The build failed.');
  console.log(`built ${outfile}`);
}

/** Whether a file is younger than everything it is made from. */
async function isFresh(file: string, inputs: readonly string[]): Promise<boolean> {
  const built = await stat(file).catch(() => null);
  if (!built) return false;
  const newer = await $`find ${inputs} -newer ${file} -print -quit`.text();
  return newer === '';
}

/** The client as a package of its own: modules and their types, and no dependencies. */
async function buildClient(): Promise<void> {
  await rm(CLIENT, { recursive: true, force: true });
  await $`node_modules/.bin/tsc -p tsconfig.client.json`;
  await cp('LICENSE', join(CLIENT, 'LICENSE'));
  const { name, version, license, type, engines } = packageJson;
  const manifest = {
    name,
    version,
    description: 'Typed client of wallet-sidecar.',
    license,
    type,
    engines,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  };
  await writeFile(join(CLIENT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`built ${CLIENT}`);
}

/** Everything that a release holds: five binaries, unit, formula, install script, checksums. */
async function buildRelease(): Promise<void> {
  const sums: Record<string, string> = {};
  for (const [name, target] of Object.entries(TARGETS)) {
    const file = `wallet-sidecar-${name}${name.startsWith('windows') ? '.exe' : ''}`;
    await compile(join(OUT, file), target);
    sums[file] = await sha256(join(OUT, file));
  }
  await cp('packaging/wallet-sidecar.service', join(OUT, 'wallet-sidecar.service'));
  await cp('packaging/install.sh', join(OUT, 'install.sh'));
  await chmod(join(OUT, 'install.sh'), 0o755);
  await writeFile(
    join(OUT, 'wallet-sidecar.rb'),
    formula(await readFile('packaging/wallet-sidecar.rb', 'utf8'), sums),
  );
  for (const file of ['wallet-sidecar.service', 'wallet-sidecar.rb', 'install.sh']) {
    sums[file] = await sha256(join(OUT, file));
  }
  const lines = Object.entries(sums).map(([file, sum]) => `${sum}  ${file}\n`);
  await writeFile(join(OUT, 'SHA256SUMS'), lines.join(''));
}

function formula(template: string, sums: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\S+?)\}\}/g, (_, key: string) =>
    key === 'version' ? packageJson.version : (sums[key] ?? ''),
  );
}

async function sha256(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  return hasher.digest('hex');
}
