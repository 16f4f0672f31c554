import { setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { clnOutsider } from './cln-outsider.ts';
import { connectCln } from './connect.ts';
import { describeClnNetwork } from './harness/index.ts';
import { twoSidecarsPay } from './two-sidecars.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

describeClnNetwork('two sidecars on one Core Lightning', (network) => {
  twoSidecarsPay(
    () => connectCln(network().alice),
    async () => (await clnOutsider(network().bob).invoice({ amount_msat: 21_000 })).invoice,
  );
});
