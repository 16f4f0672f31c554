import { z } from 'zod';
import { ApiError } from '../../model/errors.ts';
import { exampleLnurlPayment } from '../examples.ts';
import { get, type RequestContext } from '../route.ts';
import type { LnurlServices } from '../sandbox-controls.ts';
import { exampleTerms, lnurlJson, lnurlPayQuery } from './lnurl-json.ts';

/** Routes of the sandbox's LNURL services, which other wallets call (LUD-01, 03, 06). */
export const lnurlServiceRoutes = [
  get('/sandbox/lnurl/:name', 'sandbox', {
    pathParameters: { name: 'The last part of the URL that the LNURL stands for.' },
    access: 'public',
    summary: 'Answer the first call of an LNURL service',
    response: lnurlJson,
    example: { response: exampleTerms },
    handler: async (context) => services(context).lnurlFirst(context.pathParameter('name')),
  }),
  get('/sandbox/lnurl/:name/callback', 'sandbox', {
    pathParameters: { name: 'The last part of the URL that the LNURL stands for.' },
    access: 'public',
    summary: 'Answer the second call of an LNURL service',
    query: () => ({
      ...lnurlPayQuery(),
      k1: z.string().optional().describe('Secret of a withdrawal (LUD-03).'),
      pr: z.string().optional().describe('Invoice that the service pays (LUD-03).'),
    }),
    response: lnurlJson,
    example: {
      query: { amount: '1000000' },
      response: { pr: exampleLnurlPayment.invoice, routes: [] },
    },
    handler: async (context, { query }) =>
      services(context).lnurlSecond(context.pathParameter('name'), query),
  }),
];

function services({ parts }: RequestContext): LnurlServices {
  if (parts.lnurlServices) return parts.lnurlServices;
  throw new ApiError('notFound', 'This sidecar serves no LNURL.');
}
