import { z } from 'zod';
import { once } from '../../lib/once.ts';

/** An answer of an LNURL service. Errors are `{status: "ERROR", reason}`, also with HTTP status 200 (LUD-01). */
export const lnurlJson = once(() =>
  z
    .record(z.string(), z.unknown())
    .describe('The LNURL answer; a problem is `{"status": "ERROR", "reason"}`.'),
);

/** The first answer of LNURL-pay, for examples. */
export const exampleTerms = {
  tag: 'payRequest',
  callback: 'http://127.0.0.1:5393/.well-known/lnurlp/satoshi/callback',
  minSendable: 1000,
  maxSendable: 10000000000000,
  metadata:
    '[["text/plain","satoshi@127.0.0.1:5393"],["text/identifier","satoshi@127.0.0.1:5393"]]',
  commentAllowed: 200,
};

/** What a payer sends with the second call of LNURL-pay. */
export const lnurlPayQuery = () => ({
  amount: z.string().optional().describe('Amount to pay, in millisatoshis (LUD-06).'),
  comment: z.string().optional().describe('Message to the payee (LUD-12).'),
});
