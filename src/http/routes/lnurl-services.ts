import { z } from 'zod';
import { ApiError } from '../../model/errors.ts';
import type { LnurlServices } from '../lnurl-services.ts';
import { type RequestContext, route } from '../route.ts';

const anyJson = z.record(z.string(), z.unknown());
const exampleTerms = {
  tag: 'payRequest',
  callback: 'http://127.0.0.1:5393/sandbox/lnurl/satoshi/callback',
  minSendable: 1000,
  maxSendable: 1000000,
  metadata: '[["text/plain","sandbox"]]',
  commentAllowed: 0,
};

/** LNURL services and Lightning Addresses of the sandbox, served for wallets to call (LUD-01, 03, 06, 16). */
export const lnurlServiceRoutes = [
  route({
    method: 'get',
    path: '/.well-known/lnurlp/:name',
    group: 'sandbox',
    access: 'public',
    summary: 'Answer as a Lightning Address',
    addition: true,
    response: anyJson,
    example: { response: exampleTerms },
    handler: async (context) => services(context).lightningAddress(context.pathParameter('name')),
  }),
  route({
    method: 'get',
    path: '/sandbox/lnurl/:name',
    group: 'sandbox',
    access: 'public',
    summary: 'Answer the first call of an LNURL service',
    addition: true,
    response: anyJson,
    example: { response: exampleTerms },
    handler: async (context) => services(context).lnurlFirst(context.pathParameter('name')),
  }),
  route({
    method: 'get',
    path: '/sandbox/lnurl/:name/callback',
    group: 'sandbox',
    access: 'public',
    summary: 'Answer the second call of an LNURL service',
    addition: true,
    query: z.object({
      amount: z.string().optional(),
      comment: z.string().optional(),
      k1: z.string().optional(),
      pr: z.string().optional(),
    }),
    response: anyJson,
    example: { query: { amount: '1000' }, response: { pr: 'lnbcrt10n1p5example', routes: [] } },
    handler: (context, { query }) =>
      services(context).lnurlSecond(context.pathParameter('name'), query),
  }),
];

function services({ parts }: RequestContext): LnurlServices {
  if (parts.lnurlServices) return parts.lnurlServices;
  throw new ApiError('notFound', 'This sidecar serves no LNURL.');
}
