import { setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { CONFORMANCE_WITHIN_MS, expectConformance } from './conformance-run.ts';
import { findBinaries } from './harness/index.ts';
import { LND_CANNOT } from './lnd-cannot.ts';

setDefaultTimeout(SLOW_TEST_MS);

const RULE = 'the conformance tests pass on LND, but for the declared list of what LND cannot do';

if (findBinaries().length === 0) test.skip(RULE, () => undefined);
test.each(findBinaries().map((binaries) => [binaries.lndVersion, binaries.lnd] as const))(
  `${RULE} (%s)`,
  (version, lnd) => {
    const env = { CONFORMANCE_NODE: 'lnd', LND_BIN: lnd };
    return expectConformance(`LND ${version}`, env, LND_CANNOT);
  },
  CONFORMANCE_WITHIN_MS,
);
