import { afterAll, beforeAll, describe, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import {
  GENERATOR_TEST_MS,
  type GeneratedWorld,
  openGeneratedWorld,
  run,
  skipped,
} from './generated-world.ts';

setDefaultTimeout(GENERATOR_TEST_MS);

const TSC = join(import.meta.dir, '..', '..', 'node_modules', '.bin', 'tsc');
const generator = Bun.which('openapi-typescript');
if (generator === null) skipped('openapi-typescript', 'it is not on PATH');

/** Compiles only where each type is the one that is written here, and no wider one. */
const USE = `
import type { components, operations, paths } from './schema.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Payment = components['schemas']['Payment'];
type Send = NonNullable<paths['/v2/node/pay_onchain']['post']['requestBody']>['content']['application/json'];
type Deliveries = paths['/v2/webhooks/deliveries']['get']['responses'][200]['content']['application/json'];

export const same: readonly [
  Same<Payment['amount'], string | null>,
  Same<Payment['created_at'], number>,
  Same<components['schemas']['Priority'], 'high' | 'normal' | 'background'>,
  Same<Send['address'], string>,
  Same<NonNullable<Send['priority']>, components['schemas']['Priority']>,
  Same<NonNullable<Send['send_all']>, boolean>,
  Same<Deliveries['deliveries'], components['schemas']['Delivery'][]>,
  'payment_finalized' extends keyof operations ? true : false,
] = [true, true, true, true, true, true, true, true];
export const send: Send = { address: 'bcrt1', amount: '1000.5', priority: 'background' };
`;

describe.skipIf(generator === null)('the types that openapi-typescript makes', () => {
  let world: GeneratedWorld;
  beforeAll(async () => {
    world = await openGeneratedWorld();
  });
  afterAll(() => world.close());

  test('compile, and are those of the API', async () => {
    const { folder, document } = world;
    await run([generator ?? '', document, '--output', join(folder, 'schema.ts')], {
      cwd: folder,
    });
    await Bun.write(join(folder, 'use.ts'), USE);
    const flags = '--ignoreConfig --strict --noEmit --target es2023 --module preserve'.split(' ');
    await run([TSC, ...flags, '--allowImportingTsExtensions', 'use.ts'], { cwd: folder });
  });
});
