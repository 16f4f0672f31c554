import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';
import { signed, signingKeyFrom } from '../../packaging/minisign.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { BARE_ENV, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { isMissing, OWN_BINARY, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('container');
afterAll(() => removeFolder(folder));

const text = (name: string) => readFileSync(join(ROOT, 'packaging', name), 'utf8');
const [, image = ''] = text('Containerfile')
  .replaceAll(/\\\n\s*/g, '')
  .split(/^FROM .*distroless/m);
const settings: readonly string[] = Object.values(OPTIONS).map(({ env }) => env);

/** The words of an instruction of the image, which stands in it once. */
function instruction(name: string): string {
  const found = [...image.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest]) => rest);
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

const env = () =>
  Object.fromEntries(
    instruction('ENV')
      .split(' ')
      .filter((word) => word !== '')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );

describe('the image', () => {
  test('has no shell and no root, and signs of life by the program itself', () => {
    expect(instruction('USER')).toBe('65532:65532');
    expect(image).not.toMatch(/^RUN /m);
    const program = '/usr/local/bin/wallet-sidecar';
    expect(JSON.parse(instruction('ENTRYPOINT'))).toEqual([program]);
    expect(JSON.parse(instruction('CMD'))).toEqual(['serve']);
    expect(instruction('HEALTHCHECK')).toEndWith(`CMD ["${program}", "health"]`);
  });

  test.skipIf(process.platform !== 'linux' || isMissing('xz'))(
    'holds what the signature fits, whether it lies beside the file or is downloaded',
    async () => {
      const key = signingKeyFrom(new Uint8Array(40).fill(3));
      const release = await releaseFolder({ key });
      const recipe = readFileSync(join(release, 'Containerfile'), 'utf8').replaceAll(
        /\\\n\s*/g,
        '',
      );
      const [, script = ''] = /^RUN (set -eu; .*)$/m.exec(recipe) ?? [];
      const programs = join(folder, 'programs');
      mkdirSync(programs);
      const program = (name: string, lines: string) =>
        writeFileSync(join(programs, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
      program(
        'minisign',
        `exec '${process.execPath}' '${join(import.meta.dir, 'minisign.ts')}' "$@"`,
      );
      program('curl', `for url; do :; done; cp '${release}'/"\${url##*/}" .`);
      expect(recipe).toMatch(/^COPY SHA256SUMS\* wallet-sidecar-linux-\*\.tar\.xz \/beside\/$/m);
      let round = 0;
      const unpacked = async (beside: string, isSigned = true) => {
        const at = join(folder, `round-${round++}`);
        mkdirSync(at);
        const placed = script
          .replaceAll('/beside', beside)
          .replace(/key='[^']+'/, isSigned ? '$&' : "key=''")
          .replaceAll(/(?<= )\/(unpacked|state)/g, `${at}/$1`);
        const PATH = `${programs}:${process.env.PATH}`;
        const RELEASE = 'https://releases.example';
        const TARGETARCH = process.arch === 'arm64' ? 'arm64' : 'amd64';
        const env = { ...process.env, PATH, RELEASE, TARGETARCH };
        const { exitCode } = await run(['sh', '-c', placed], at, env);
        return [exitCode, existsSync(join(at, 'unpacked', 'wallet-sidecar'))];
      };
      const nothing = join(folder, 'nothing');
      expect(await unpacked(release)).toEqual([0, true]);
      expect(await unpacked(nothing)).toEqual([0, true]);
      const archive = join(release, `${OWN_BINARY}.tar.xz`);
      const bytes = readFileSync(archive);
      writeFileSync(archive, 'other');
      for (const beside of [release, nothing]) expect(await unpacked(beside)).toEqual([1, false]);
      writeFileSync(archive, bytes);
      const stranger = signingKeyFrom(new Uint8Array(40).fill(4));
      const list = readFileSync(join(release, 'SHA256SUMS'));
      writeFileSync(join(release, 'SHA256SUMS.minisig'), signed(list, 'x', stranger));
      for (const beside of [release, nothing]) expect(await unpacked(beside)).toEqual([1, false]);
      // One without a key is taken from the folder that somebody built, and from nowhere else.
      expect(await unpacked(release, false)).toEqual([0, true]);
      expect(await unpacked(nothing, false)).toEqual([1, false]);
      removeFolder(release);
    },
  );

  test('serves with its settings, to callers with credentials alone', async () => {
    expect(Object.keys(env()).filter((name) => !settings.includes(name))).toEqual([]);
    for (const name of ['data', 'marker']) mkdirSync(join(folder, name), { mode: 0o700 });
    const port = await freePort();
    const placed = Object.entries(env()).map(([name, value]) => [
      name,
      value.replace(/^\/(?=data|marker)/, `${folder}/`).replace(/:5393$/, `:${port}`),
    ]);
    const sidecar = startBinary(JSON.parse(instruction('CMD')), {
      cwd: join(folder, 'data'),
      env: { ...BARE_ENV, ...Object.fromEntries(placed), SERVICE_ROOT_SEED: 'a1'.repeat(32) },
    });
    await until(() => sidecar.log().includes('is ready') || !sidecar.running(), 'it was ready');
    const status = async (path: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null))?.status;
    expect([await status('/v2/health'), await status('/v2/node/node_info')]).toEqual([200, 401]);
    expect(await sidecar.stop()).toBe(0);
  });
});

test('compose opens the port to this machine alone, and leaves the container nothing that it does not need', () => {
  const compose = YAML.parse(text('compose.yaml')) as {
    services: Record<string, Record<string, unknown> & { environment: Record<string, string> }>;
    secrets: Record<string, unknown>;
    volumes: Record<string, unknown>;
  };
  const [name, service] = Object.entries(compose.services)[0] ?? [];
  expect(service).toMatchObject({
    build: { context: '.', dockerfile: 'Containerfile' },
    ports: ['127.0.0.1:5393:5393'],
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    secrets: Object.keys(compose.secrets),
    volumes: Object.keys(compose.volumes).map((volume) => `${volume}:/${volume}`),
  });
  const { environment = {} } = service ?? {};
  expect(Object.keys(environment).filter((one) => !settings.includes(one))).toEqual([]);
  expect(environment).toEqual({
    SERVICE_CLIENT_CREDENTIALS_PATH: '/run/secrets/client-credentials',
    // The host by which other containers call.
    SERVICE_ALLOW_HOSTS: name ?? '',
  });
});
