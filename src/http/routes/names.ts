import type { Names } from '../../wallet/names/names.ts';
import { payeeInvoice, payeeTerms, UNKNOWN_PAYEE } from '../../wallet/names/payee.ts';
import { exampleLnurlPayment } from '../examples.ts';
import { get, type RequestContext } from '../route.ts';
import { exampleTerms, lnurlJson, lnurlPayQuery } from './lnurl-json.ts';

const PATH = '/.well-known/lnurlp/:name';
const NAME = { name: 'The part of the Lightning Address before the @.' };

/** Routes by which payers reach the names of this sidecar's wallets as Lightning Addresses (LUD-06, LUD-12, LUD-16). */
export const nameRoutes = [
  get(PATH, 'addresses', {
    pathParameters: NAME,
    access: 'public',
    answersAtDomain: true,
    summary: 'Answer as a Lightning Address',
    description:
      'The first call of a payer (LUD-06, LUD-16). Requests are bounded by source address. Served on the sandbox, and with `--address-domain`.',
    response: lnurlJson,
    example: { response: exampleTerms },
    handler: async (context) => {
      const name = context.pathParameter('name');
      return (
        (await payeeTerms(namesOf(context), name, context)) ??
        context.parts.lnurlServices?.lightningAddress(name) ??
        UNKNOWN_PAYEE
      );
    },
  }),
  get(`${PATH}/callback`, 'addresses', {
    pathParameters: NAME,
    access: 'public',
    answersAtDomain: true,
    summary: 'Make an invoice for a payer of a Lightning Address',
    description:
      'The second call of a payer (LUD-06, LUD-12). The invoice is watched, and the comment becomes the message of its payment. Bounded by source address, by name, and in unpaid invoices of a name.',
    query: lnurlPayQuery,
    response: lnurlJson,
    example: {
      query: { amount: '1000000' },
      response: { pr: exampleLnurlPayment.invoice, routes: [] },
    },
    handler: async (context, { query }) =>
      (await payeeInvoice(namesOf(context), context.pathParameter('name'), {
        ...query,
        source: context.source,
      })) ?? UNKNOWN_PAYEE,
  }),
];

/** These routes are served only where names are. */
function namesOf({ parts }: RequestContext): Names {
  if (parts.names) return parts.names;
  throw new Error('The routes of names are served without names.');
}
