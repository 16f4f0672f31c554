import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';
import { OPTIONS } from '../../src/config/options.ts';
import { BARE_ENV, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { ROOT } from './folder.ts';

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

  test('holds what fits its checksum', () => {
    expect(text('Containerfile')).toMatch(/^RUN sha256sum --check --ignore-missing .*SHA256SUMS/m);
  });

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
