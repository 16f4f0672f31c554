import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

const generator = Bun.which('openapi-python-client');
/** The Python beside the generator, which has the packages that the generated code imports. */
const python = generator === null ? '' : join(dirname(realpathSync(generator)), 'python');
const canPay = canRun([python, '-c', 'import attrs, dateutil, httpx']);
if (generator === null) skipped('openapi-python-client', 'it is not on PATH');
else if (!canPay)
  skipped('openapi-python-client', 'the Python beside it lacks attrs, httpx or python-dateutil');

describe.skipIf(!canPay)('the client that openapi-python-client makes', () => {
  let world: GeneratedWorld;
  beforeAll(async () => {
    world = await openGeneratedWorld();
  });
  afterAll(() => world.close());

  test('leaves no endpoint out, pays, and reads times, amounts and deliveries', async () => {
    const { folder, document, baseUrl } = world;
    const client = join(folder, 'python');
    const said = await run(
      [generator ?? '', 'generate', '--path', document, '--output-path', client],
      { cwd: folder },
    );
    expect(said).not.toMatch(/unable to|endpoint will not be generated|ignor/i);
    const printed = await run([python, join(import.meta.dir, 'pay.py'), baseUrl], {
      cwd: folder,
      env: { PYTHONPATH: client },
    });
    const paid = JSON.parse(printed) as Printed;
    const { paid: newest } = paid;
    expect(paid).toMatchObject({ status: 'completed', amount: '1500.5', newest, deliveries: 0 });
    expect(Math.abs(Date.now() - paid.created_at)).toBeLessThan(GENERATOR_TEST_MS);
    expect(paid.address).toMatch(/^\w+1p/);
  });
});
