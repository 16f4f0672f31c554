import { setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { CLN_CANNOT } from './cln-cannot.ts';
import { CONFORMANCE_WITHIN_MS, expectConformance } from './conformance-run.ts';
import { findClnBinaries } from './harness/index.ts';

setDefaultTimeout(SLOW_TEST_MS);

const RULE =
  'the conformance tests pass on Core Lightning, but for the declared list of what Core Lightning cannot do';

if (findClnBinaries().length === 0) test.skip(RULE, () => undefined);
test.each(findClnBinaries().map((binaries) => [binaries.clnVersion, binaries.lightningd] as const))(
  `${RULE} (%s)`,
  (version, lightningd) => {
    const env = { CONFORMANCE_NODE: 'cln', LIGHTNINGD_BIN: lightningd };
    return expectConformance(`Core Lightning ${version}`, env, CLN_CANNOT);
  },
  CONFORMANCE_WITHIN_MS,
);
