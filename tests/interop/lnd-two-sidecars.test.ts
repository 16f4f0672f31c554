import { setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { outsider } from './outsider.ts';
import { twoSidecarsPay } from './two-sidecars.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

describeNetwork('two sidecars on one LND', (network) => {
  twoSidecarsPay(
    () => connectLnd(network().alice),
    async () => (await outsider(network().bob).invoice({ value_msat: '21000' })).invoice,
  );
});
