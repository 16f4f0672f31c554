import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { $ } from 'bun';
import packageJson from './package.json';
import { adHocSigned, signatureProblems } from './packaging/code-signature.ts';
import { commitOf } from './packaging/commit.ts';
import { bundleConsole } from './packaging/console-bundle.ts';
import {
  HELPER_NOTICES,
  HELPER_PLATFORMS,
  helperFile,
  platformOf,
} from './packaging/helper/targets.ts';
import { builtNfpm } from './packaging/linux-packages.ts';
import type { SigningKey } from './packaging/minisign.ts';
import { NOTICES, separated, thirdPartyNotices } from './packaging/notices.ts';
import { BINARIES } from './packaging/platforms.ts';
import { makeRelease } from './packaging/release.ts';
import { releaseKey } from './packaging/release-key.ts';
import { writeClients } from './tools/write-clients.ts';

const OUT = 'dist';
const RELEASE = join(OUT, 'release');
const BINARY = join(OUT, 'wallet-sidecar');
/** The program that holds the LDK node, where "npm run build:helper" has built it for this machine. */
const HELPER = join(OUT, helperFile(null));
const HELPER_SOURCES = ['helper/src', 'helper/Cargo.toml', 'helper/Cargo.lock'];
/** The licences of what is in that program. */
const OF_HELPER = join(OUT, HELPER_NOTICES);
const INPUTS = [
  'src',
  HELPER,
  'package.json',
  'package-lock.json',
  'build.ts',
  'packaging/commit.ts',
  'packaging/console-bundle.ts',
  'packaging/console-first-paint.ts',
  'packaging/helper/targets.ts',
  'tsconfig.console.json',
];
const NOTICE_INPUTS = ['packaging/notices.ts', 'package-lock.json', OF_HELPER];
const MAN_PAGE = join(OUT, 'wallet-sidecar.1');
const MAN_PAGE_INPUTS = [...INPUTS, 'tools'];
const CLIENT = join(OUT, 'client');
const CLIENT_INPUTS = ['src/client', 'package.json', 'tsconfig.client.json', 'build.ts'];

const signs = Bun.argv.includes('--sign');
const all = signs || Bun.argv.includes('--all');
const commit = await commitOf('.');
// What a release needs is asked for first, because the rest takes minutes.
const key = signs ? await keyOfRelease().catch(refuse) : null;
if (all) await requireHelpers().catch(refuse);
const nfpm = all ? await builtNfpm(join(OUT, 'tools')).catch(refuse) : null;
const force = all || Bun.argv.includes('--force');
await mkdir(OUT, { recursive: true });
await writeClients();
if (force || !(await isFresh(join(CLIENT, 'package.json'), CLIENT_INPUTS))) await buildClient();
if (force || !(await isFresh(BINARY, INPUTS)) || !(await namesCommit(BINARY)))
  await compile(BINARY, null);
if (force || !(await isFresh(MAN_PAGE, MAN_PAGE_INPUTS))) {
  // The command line imports the client, whose files were not there before this build.
  const { manPage } = await import('./tools/man-page.ts');
  await writeFile(MAN_PAGE, await manPage(packageJson.version));
  console.log(`built ${MAN_PAGE}`);
}
if (force || !(await isFresh(join(OUT, NOTICES), NOTICE_INPUTS))) await writeNotices();
if (all) await buildRelease();

/**
 * Compiles one binary; without a target, for this machine. The helper of the LDK node is in it where one was built for
 * that machine ("npm run build:helper").
 */
async function compile(outfile: string, target: string | null, helper = HELPER): Promise<void> {
  const helpers = existsSync(helper) ? [helper] : [];
  const result = await Bun.build({
    entrypoints: ['src/main.ts', ...helpers],
    loader: { '.bin': 'file' },
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    // What is imported later is a file of its own in the binary, so that a start does not load it.
    splitting: true,
    format: 'esm',
    // The library of MCP has two checkers of JSON Schema, and needs none here: this takes the one that is 0.6 MB smaller.
    conditions: ['workerd'],
    define: {
      WALLET_SIDECAR_VERSION: JSON.stringify(packageJson.version),
      WALLET_SIDECAR_COMMIT: JSON.stringify(commit),
      WALLET_SIDECAR_CONSOLE: JSON.stringify(JSON.stringify(await bundleConsole('.'))),
      // Otherwise the binary would contain the paths of packages on the building machine, and differ between folders.
      __dirname: '""',
      __filename: '""',
    },
    compile: {
      outfile,
      ...(target ? { target: target as Bun.Build.CompileTarget } : {}),
      // Beyond this size the runtime answers 431 without a body. The limit of the API is lower (src/http/limits).
      execArgv: ['--max-http-header-size=131072'],
      // Files in the working directory may be from a stranger, so the binary must neither run nor obey them.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!result.success) throw new AggregateError(result.logs, 'The build failed.');
  if (target?.includes('darwin') ?? process.platform === 'darwin') await signAdHoc(outfile);
  console.log(`built ${outfile}${helpers.length === 0 ? ', without the LDK node' : ''}`);
}

/** Signs a binary for macOS anew, since the compiler leaves the runtime's own signature on some, which does not fit. */
async function signAdHoc(file: string): Promise<void> {
  const signed = adHocSigned(await readFile(file), 'wallet-sidecar');
  const problems = signatureProblems(signed);
  if (problems.length > 0) throw new Error(`The signature of ${file}: ${problems.join(' ')}`);
  await writeFile(file, signed);
}

/** Returns the key to sign with. Throws where a release must not be made: without its key, or of unknown sources. */
async function keyOfRelease(): Promise<SigningKey> {
  if (!/^[0-9a-f]+$/.test(commit))
    throw new Error(`The commit is ${commit}: a release is made from a clone without changes.`);
  return releaseKey('.', process.env);
}

/** Ends the build with the sentence of an error, for what the person who started it can mend. */
function refuse(error: Error): never {
  console.error(error.message);
  process.exit(1);
}

/** Whether a file is newer than everything it is made from. */
async function isFresh(file: string, inputs: readonly string[]): Promise<boolean> {
  const built = await stat(file).catch(() => null);
  if (!built) return false;
  const newer = await $`find ${inputs.filter(existsSync)} -newer ${file} -print -quit`.text();
  return newer === '';
}

/** Whether a binary says that it is from the commit that is checked out. */
async function namesCommit(binary: string): Promise<boolean> {
  const said = await $`./${binary} --version`.quiet().nothrow().text();
  return said.includes(`(commit ${commit})`);
}

/** Builds the client's package: modules and their types, without dependencies. */
async function buildClient(): Promise<void> {
  await rm(CLIENT, { recursive: true, force: true });
  await $`node_modules/.bin/tsc -p tsconfig.client.json`;
  await cp('LICENSE', join(CLIENT, 'LICENSE'));
  await cp('src/client/README.md', join(CLIENT, 'README.md'));
  const { name, version, keywords, homepage, repository, license, type, engines } = packageJson;
  const manifest = {
    name,
    version,
    description: 'Typed client of wallet-sidecar.',
    keywords,
    homepage,
    repository,
    license,
    type,
    engines,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  };
  await writeFile(join(CLIENT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`built ${CLIENT}`);
}

/** Writes the licences of others, which a release must carry. */
async function writeNotices(): Promise<void> {
  const ofHelper = existsSync(OF_HELPER) ? [await readFile(OF_HELPER, 'utf8')] : [];
  await writeFile(join(OUT, NOTICES), separated([await thirdPartyNotices('.'), ...ofHelper]));
  console.log(`built ${join(OUT, NOTICES)}`);
}

/** The program of the LDK node for a binary of a release. */
function helperOf(binary: string): string {
  return join(OUT, helperFile(platformOf(binary)));
}

/**
 * Throws where a release would hold an LDK node of other sources or without its licences and, where it is signed, where
 * a platform that has the node would be without it.
 */
async function requireHelpers(): Promise<void> {
  for (const binary of Object.keys(BINARIES)) {
    const [file, platform] = [helperOf(binary), platformOf(binary)];
    const how = `npm run build:helper -- --platform ${platform}`;
    if (!existsSync(file)) {
      if (!signs || !HELPER_PLATFORMS.has(platform)) continue;
      throw new Error(`${file} is missing, so the release would lack the LDK node: ${how}`);
    }
    if (!(await isFresh(file, HELPER_SOURCES))) {
      throw new Error(`${file} is older than its sources: ${how}`);
    }
    if (!existsSync(OF_HELPER)) throw new Error(`${OF_HELPER} is missing: ${how}`);
  }
}

/** Builds everything that is published into one folder. */
async function buildRelease(): Promise<void> {
  for (const [file, target] of Object.entries(BINARIES)) {
    await compile(join(OUT, file), target, helperOf(file));
  }
  const { version } = packageJson;
  const runnable = `./${BINARY}`;
  await makeRelease({ folder: RELEASE, built: OUT, version, commit, runnable, key, nfpm });
  console.log(`built ${RELEASE}, ${key === null ? 'not signed' : 'signed'}`);
}
