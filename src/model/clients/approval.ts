import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { amountOutput } from '../amount.ts';
import { hexOutput, timestamp } from '../text.ts';

/** What is decided about a payment that waits for approval, in an answer (docs/decisions.md 187). */
export const approvalJson = once(() =>
  z
    .object({
      client_pk: hexOutput(32).describe('Who asked for it.'),
      client_label: z.string().nullable().describe('Its label.'),
      max_fee: amountOutput().describe('Its highest fee, in sats.'),
      node_pk: hexOutput(33).nullable().describe('The node that is paid; null on chain.'),
      expires_at: timestamp().describe('When it fails by itself.'),
    })
    .meta({ id: 'Approval', description: 'Beside a payment that waits: what is decided.' }),
);

export type ApprovalJson = z.infer<ReturnType<typeof approvalJson>>;
