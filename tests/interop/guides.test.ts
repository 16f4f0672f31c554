import { setDefaultTimeout, test } from 'bun:test';
import { expectWorks } from '../readme/follow.ts';
import { forNode, needsNode } from '../readme/guide.ts';
import { GUIDES, pageText } from '../support/pages.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { clnOutsider } from './cln-outsider.ts';
import { describeClnNetwork, describeNetwork } from './harness/index.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The invoice that the reader is told to get from another wallet. */
const THEIR_MSAT = '500000';
/** What the reader has done before, in the same data directory. */
const TRIED_THE_SANDBOX = `**Terminal 2:**

\`\`\`sh
./dist/wallet-sidecar dev
\`\`\`

It prints \`Paste these lines\`. Press Ctrl-C in terminal 2.

`;
const guides = GUIDES.filter((guide) => needsNode(pageText(guide)));
/** Which of the programs that a guide runs besides the sidecar are not here. */
const missing = (programs: readonly string[]) =>
  programs.filter((program) => Bun.which(program) === null);

function follows(programs: readonly string[], run: (text: string) => Promise<void>): void {
  const lacking = missing(programs);
  if (lacking.length > 0)
    console.error(
      `\n!!! SKIPPED: the guides on a real node need ${lacking.join(', ')} on PATH. !!!\n`,
    );
  for (const guide of guides) {
    test.skipIf(lacking.length > 0)(`${guide} works as it reads`, () =>
      run(TRIED_THE_SANDBOX + pageText(guide)),
    );
  }
}

describeNetwork('the guides', (network) => {
  follows(['lncli'], async (text) => {
    const { alice, bob } = network();
    const other = outsider(bob);
    await expectWorks(forNode(text, 'LND'), {
      env: {
        NETWORK: 'regtest',
        LND_DIR: alice.dir,
        LND_RPC: alice.rpcAddress,
        LND_URL: alice.restUrl,
        THEIR_INVOICE: (await other.invoice({ value_msat: THEIR_MSAT })).invoice,
      },
      pay: other.pays,
    });
  });
});

describeClnNetwork('the guides', (network) => {
  follows(['lightning-cli'], async (text) => {
    const { alice, bob } = network();
    const other = clnOutsider(bob);
    await expectWorks(forNode(text, 'Core Lightning'), {
      env: {
        NETWORK: 'regtest',
        CLN_DIR: alice.dir,
        CLN_URL: alice.url,
        THEIR_INVOICE: (await other.invoice({ amount_msat: THEIR_MSAT })).invoice,
      },
      pay: other.pays,
    });
  });
});
