import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import {
  canRun,
  GENERATOR_TEST_MS,
  type GeneratedWorld,
  openGeneratedWorld,
  type Printed,
  run,
  skipped,
} from './generated-world.ts';

setDefaultTimeout(GENERATOR_TEST_MS);

/** What the generated code imports besides Go's own library. */
const GO_MODULE = 'gopkg.in/validator.v2@v2.0.1';
/** Go takes modules from this machine alone. */
const GO_ENV = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOSUMDB: 'off', GOTOOLCHAIN: 'local' };

const jar = process.env.OPENAPI_GENERATOR_JAR ?? jarOfMaven();
const missing = whatIsMissing();
if (missing !== null) skipped('openapi-generator', missing);

function jarOfMaven(): string | undefined {
  const jars = 'org/openapitools/openapi-generator-cli/*/openapi-generator-cli-*.jar';
  const cwd = join(homedir(), '.m2', 'repository');
  try {
    return [...new Glob(jars).scanSync({ cwd, absolute: true })].toSorted().at(-1);
  } catch {
    return undefined;
  }
}

function whatIsMissing(): string | null {
  if (!canRun(['java', '-version'])) return 'java is not installed';
  if (jar === undefined)
    return 'neither OPENAPI_GENERATOR_JAR nor ~/.m2 has the jar of openapi-generator-cli';
  if (!canRun(['go', 'version'])) return 'go is not installed';
  if (!canRun(['go', 'mod', 'download', GO_MODULE], GO_ENV))
    return `Go has no ${GO_MODULE}, which \`go mod download ${GO_MODULE}\` fetches`;
  return null;
}

describe.skipIf(missing !== null)('the client that openapi-generator makes for Go', () => {
  let world: GeneratedWorld;
  beforeAll(async () => {
    world = await openGeneratedWorld();
  });
  afterAll(() => world.close());

  test('compiles, pays, and reads times, amounts and deliveries', async () => {
    const { folder, document, baseUrl } = world;
    const client = join(folder, 'go');
    await run(
      ['java', '-jar', jar ?? '', 'generate', '-g', 'go', '-i', document, '-o', client].concat([
        '--package-name=client',
        '--git-host=sidecar.example',
        '--git-user-id=generated',
        '--git-repo-id=client',
        '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
      ]),
      { cwd: folder },
    );
    mkdirSync(join(client, 'pay'));
    const program = Bun.file(join(import.meta.dir, 'pay.go'));
    await Bun.write(join(client, 'pay', 'main.go'), program);
    const printed = await run(['go', 'run', './pay', baseUrl], { cwd: client, env: GO_ENV });
    const paid = JSON.parse(printed) as Printed;
    const { paid: newest } = paid;
    expect(paid).toMatchObject({ status: 'completed', amount: '1500.5', newest, deliveries: 0 });
    expect(Math.abs(Date.now() - paid.created_at)).toBeLessThan(GENERATOR_TEST_MS);
    expect(paid.address).toMatch(/^\w+1p/);
  });
});
