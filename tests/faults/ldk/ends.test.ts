import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { hasLdkHelper, helpersOf } from '../../support/ldk-network.ts';
import { type LdkSidecar, openLdkSidecar } from '../../support/ldk-sidecar.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const skipped = !hasLdkHelper();
if (skipped) console.warn('SKIPPED: how a sidecar with an LDK node ends (no helper was built).');

describe.skipIf(skipped)('a sidecar with an LDK node', () => {
  let wallet: LdkSidecar;

  beforeAll(async () => {
    wallet = await openLdkSidecar();
  });
  afterAll(() => wallet.close());

  const helpers = () => helpersOf(wallet.sidecar.dataDir);
  const gone = () => until(() => helpers().length === 0, 'the node has ended');
  const expectPays = async () => {
    await wallet.usable();
    expect((await wallet.pay(1_000_000n)).payment).toMatchObject({ status: 'completed' });
  };

  test('that is told to stop leaves no node behind', async () => {
    expect(await wallet.sidecar.stop()).toBe(0);
    await gone();
    await wallet.sidecar.start();
    await expectPays();
  });

  test('whose group is told to stop stops in order, and pays again at once', async () => {
    for (const pid of helpers()) process.kill(pid, 'SIGTERM');
    expect(await wallet.sidecar.stop()).toBe(0);
    await wallet.sidecar.start();
    await expectPays();
    expect(helpers()).toHaveLength(1);
  });

  test('opens no channel to a peer that never answers, and says so', async () => {
    const silent = Bun.listen({
      ...{ hostname: '127.0.0.1', port: 0 },
      socket: { data: () => undefined },
    });
    const answer = await wallet.sidecar.call('POST', '/v2/node/open_channel', {
      body: {
        ...{
          value: '500000',
          peer: `02${'79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'}@127.0.0.1:${silent.port}`,
        },
        user_channel_id: 'ab'.repeat(16),
      },
    });
    expect(answer.body.msg).toContain('The peer cannot be reached');
    silent.stop(true);
    expect((await wallet.info()).num_channels).toBe(1);
    await expectPays();
  });

  test('that is killed with its node pays again', async () => {
    const [pid = 0] = helpers();
    await wallet.sidecar.kill();
    process.kill(pid, 'SIGKILL');
    await wallet.sidecar.start();
    await expectPays();
  });

  test('that is killed while its node hangs waits for that node at the next start, and says so', async () => {
    const [pid = 0] = helpers();
    process.kill(pid, 'SIGSTOP');
    await wallet.sidecar.kill();
    await wallet.sidecar.start();
    await until(
      async () => /Another process still uses .*state\.sqlite/.test(await wallet.health()),
      'health says what is waited for',
    );
    process.kill(pid, 'SIGCONT');
    await expectPays();
    await until(async () => (await wallet.health()) === 'ok', 'health is well again');
    expect(helpers()).toHaveLength(1);
    expect(helpers()).not.toContain(pid);
  });
});
