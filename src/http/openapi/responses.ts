import { z } from 'zod';
import { amountOutput } from '../../model/amount.ts';
import { ERRORS, type ErrorName } from '../../model/errors.ts';
import { isStream } from '../allowed-methods.ts';
import { IGNORED_FIELDS_HEADER } from '../input/ignored-fields.ts';
import type { Route } from '../route.ts';
import { type Json, jsonSchema, type Schemas } from './json-schema.ts';

const CODES = Object.values(ERRORS).map(({ code }) => code);

/** Under this name the description of a member of an error's `data` lists the only codes that have it. */
const CODES_WITH_IT = 'x-error-codes';

/** Describes a member of `data` that only one error has. */
function only(name: ErrorName, description: string): Json {
  const { code } = ERRORS[name];
  return { description: `Error ${code}: ${description}`, [CODES_WITH_IT]: [code] };
}

const errorData = z.looseObject({
  issues: z
    .array(
      z.object({
        path: z.string().describe('The field; empty for the request as a whole.'),
        message: z.string().describe('What is wrong with it.'),
      }),
    )
    .optional()
    .meta(only('rejected', 'what is wrong with the request.')),
  sent: z
    .enum(['no', 'unknown', 'yes'])
    .optional()
    .describe('Whether anything was sent, or may have been, where the request moves money.'),
  index: z.string().optional().describe('Index of the payment that was begun.'),
  status: z
    .string()
    .optional()
    .meta(only('refused', 'how the first payment stands, where the caller may not read it.')),
  permission: z
    .string()
    .optional()
    .meta(only('forbidden', 'the permission that the credentials lack.')),
  remaining: amountOutput()
    .optional()
    .meta(only('overBudget', 'what is left of the budget, in sats.')),
  node: z.string().optional().meta(only('unsupported', 'the node that cannot do it.')),
  problem: z
    .string()
    .optional()
    .meta(only('serviceFailed', 'what is wrong with the service outside.')),
  reason: z.string().optional().meta(only('serviceFailed', 'what the service itself said.')),
});

const errorJson = z
  .object({
    code: z
      .int()
      .meta({ description: 'Which error it is; the same in every version.', enum: CODES }),
    msg: z.string().describe('What happened, and what to do next.'),
    data: errorData.nullable().describe('More about it; null where there is none.'),
    sensitive: z.boolean().describe('Whether the message holds something secret.'),
  })
  .meta({ id: 'Error', description: 'The body of every error.' });

/** Every error refers to this schema, which {@link sharedResponses} adds to the document. */
const ERROR_REF = { $ref: '#/components/schemas/Error' };

/** The headers of answers that are described in the document. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'x-request-id': {
    description: 'Under this id the log tells more.',
    schema: { type: 'string' },
    example: '3fa1c2-17',
  },
  [IGNORED_FIELDS_HEADER]: {
    description:
      'Unknown body fields and query parameters, which were ignored: a list of strings (RFC 9651), names percent-encoded. Only where there were any.',
    schema: { type: 'string' },
    example: '"amt", "personal_nte"',
  },
  'Retry-After': {
    description: 'With error 8: seconds to wait before the next try.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '2',
  },
  Location: {
    description: 'Where the answer is.',
    schema: { type: 'string' },
    example: '/docs',
  },
  Allow: {
    description: 'The methods that the path answers.',
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
};

const WITHOUT_BODY = 'Beyond 128 KiB the answer may have no body.';

/** Errors that every endpoint can answer, by status. The names are those of `components.responses`. */
const SHARED: Readonly<Record<number, readonly [name: string, description: string]>> = {
  405: ['MethodNotAllowed', 'Error 7: the path does not answer this method.'],
  408: ['BodyTooSlow', 'Error 7: the body did not arrive within 5 seconds.'],
  413: [
    'BodyTooLarge',
    'Error 7: the body is larger than 256 KiB, or 16 KiB where no credentials are needed.',
  ],
  414: ['TargetTooLong', `Error 7: the request line is longer than 64 KiB. ${WITHOUT_BODY}`],
  415: ['NotJson', 'Error 7: the body is not sent as `application/json`.'],
  431: [
    'HeadTooLarge',
    `Error 7: the request line and headers are longer than 64 KiB. ${WITHOUT_BODY}`,
  ],
  500: ['InternalError', `Error 6: ${ERRORS.internal.meaning}`],
};

/** Returns the document's `components.responses`, and adds the schema of errors. */
export function sharedResponses(schemas: Schemas): Json {
  jsonSchema(errorJson, 'answer', schemas);
  return Object.fromEntries(
    Object.entries(SHARED).map(([status, [name, description]]) => {
      const codes = [status === '500' ? ERRORS.internal.code : ERRORS.rejected.code];
      return [name, errorResponse(Number(status), codes, description)];
    }),
  );
}

/** Returns every answer of a route, by status. */
export function responsesOf(route: Route, schemas: Schemas): Json {
  return {
    ...goodResponses(route, schemas),
    ...Object.fromEntries(
      [...errorsByStatus(route)].map(([status, names]) => [
        status,
        errorResponse(
          status,
          names.map((name) => ERRORS[name].code),
          names.map((name) => `Error ${ERRORS[name].code}: ${ERRORS[name].meaning}`).join(' '),
          names.includes('overCapacity') ? ['Retry-After'] : [],
        ),
      ]),
    ),
    ...Object.fromEntries(
      sharedStatuses(route).map((status) => [
        status,
        { $ref: `#/components/responses/${SHARED[status]?.[0]}` },
      ]),
    ),
  };
}

function goodResponses(route: Route, schemas: Schemas): Json {
  if (route.redirectsTo !== undefined) {
    const headers = headersNamed('Location', IGNORED_FIELDS_HEADER);
    return { 302: { description: `Leads to \`${route.redirectsTo}\`.`, headers } };
  }
  const mediaType = route.mediaType ?? 'application/json';
  const schema = jsonSchema(route.response, 'answer', schemas);
  const stream = isStream(route);
  const headers = headersNamed(IGNORED_FIELDS_HEADER);
  const done = {
    description: stream ? 'A stream of events; the data of each `payment` is as below.' : 'Done.',
    headers,
    content: {
      [mediaType]: { schema, ...(stream ? {} : { example: route.example.response }) },
      ...(route.otherMediaType && { [route.otherMediaType]: { schema: { type: 'string' } } }),
    },
  };
  if (route.answersAccepted === undefined) return { 200: done };
  const accepted = {
    description: 'As `Prefer` asked: the payment, still pending.',
    headers,
    content: { [mediaType]: { schema } },
  };
  return { 200: done, 202: accepted };
}

function errorResponse(
  status: number,
  codes: readonly number[],
  description: string,
  headers: readonly string[] = [],
): Json {
  const own = { 401: ['WWW-Authenticate'], 405: ['Allow'] }[status] ?? [];
  return {
    description,
    'x-error-codes': codes,
    headers: headersNamed('x-request-id', IGNORED_FIELDS_HEADER, ...own, ...headers),
    content: { 'application/json': { schema: ERROR_REF } },
  };
}

function headersNamed(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function sharedStatuses({ access, body, answersAtDomain }: Route): number[] {
  // Payers get other errors as answers of LNURL.
  if (answersAtDomain) return [405];
  const ofBody = access === 'public' ? [408, 413, 415] : [413, 415];
  return [405, 414, 431, 500, ...(body ? ofBody : [])];
}

function errorsByStatus(route: Route): Map<number, ErrorName[]> {
  const { access, body, takesKey, answersAtDomain, errors = [] } = route;
  const names = new Set<ErrorName>(['hostNotAllowed']);
  const add = (...more: readonly ErrorName[]) => {
    for (const name of more) names.add(name);
  };
  // A query parameter that is given twice is error 7 everywhere.
  if (!answersAtDomain) add('rejected');
  if (body) add('overCapacity');
  if (access !== 'public') {
    // Opening a wallet may ask its node, which can fail. Before signup it is error 106.
    add('unauthenticated', 'refused', 'unreachable', 'unreadable');
    if (access !== 'authenticated' && access !== 'root_seed') add('forbidden');
  }
  if (takesKey) add('idempotencyConflict');
  add(...errors);
  const inOrder = (Object.keys(ERRORS) as ErrorName[]).filter((name) => names.has(name));
  return Map.groupBy(inOrder, (name) => ERRORS[name].httpStatus);
}
