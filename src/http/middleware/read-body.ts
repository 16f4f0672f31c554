import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { ApiError, rejected } from '../../model/errors.ts';
import type { Session } from '../../wallet/session.ts';
import type { AppEnv } from '../env.ts';
import { hasExactNumbers } from '../input/exact-numbers.ts';
import { inputFields } from '../input/input-fields.ts';
import type { CallersShare } from '../limits/callers-share.ts';
import type { Route } from '../route.ts';
import { accept, noteIgnored, type ReadInput, readInput } from './validate.ts';

/** The largest accepted request body, in bytes (docs/decisions.md 16). */
const MAX_BODY_BYTES = 256 * 1024;

/** The caller of every request without a session, in {@link CallersShare}. */
const WITHOUT_CREDENTIALS = 'without credentials';

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new ApiError('rejected', 'The body is larger than 256 KiB.', { httpStatus: 413 });
  },
});

/** Reads the body of a request, and returns its parsed value. */
export type ReadBody = (context: Context<AppEnv>, session: Session | undefined) => Promise<unknown>;

/**
 * Returns the function that reads and parses the JSON bodies of a route that has them. An empty body counts as `{}`.
 * Another content type is error 7 with status 415 (docs/decisions.md 16). `bodies` limits how many bodies each caller
 * may be sending.
 */
export function bodyReader(route: Pick<Route, 'body'>, bodies: CallersShare): ReadBody {
  // Most routes are never called in a process, so a schema is made and looked into at the first call.
  const parser = once(() => bodyParser(route.body ?? z.object({})));
  return async (context, session) => {
    const { parseEmpty, parse } = parser();
    const bytes = await bytesOf(context, session, bodies);
    if (bytes.byteLength === 0) return parseEmpty(context);
    requireJson(context);
    const text = textOf(bytes);
    if (!hasExactNumbers(text)) {
      throw rejected(
        '',
        'The body holds a number with too many digits: write an amount as a string.',
      );
    }
    return parse(context, text);
  };
}

/** Parses bodies of one schema. */
interface BodyParser {
  readonly parseEmpty: (context: Context<AppEnv>) => unknown;
  /** Parses the body that was read, whose text is given for the error that says where it is malformed. */
  readonly parse: (context: Context<AppEnv>, text: string) => Promise<unknown>;
}

function bodyParser(schema: z.ZodType): BodyParser {
  const fields = inputFields(schema);
  const acceptBody = (result: unknown, context: Context<AppEnv>): unknown => {
    const input = result as ReadInput;
    noteIgnored(context, input);
    return accept(input);
  };
  const check = (result: unknown, context: Context<AppEnv>) => void acceptBody(result, context);
  const validate = zValidator('json', schema, check, {
    validationFunction: (own, value) => readInput(own, fields, value),
  }) as MiddlewareHandler<AppEnv>;
  return {
    parseEmpty: (context) => acceptBody(readInput(schema, fields, {}), context),
    async parse(context, text) {
      try {
        await validate(context, async () => undefined);
      } catch (error) {
        if (!(error instanceof HTTPException)) throw error;
        const { jsonProblem } = await import('../input/json-problem.ts');
        throw rejected('', jsonProblem(text));
      }
      // The type of a context tells what was validated only within Hono's own chains.
      return context.req.valid('json' as never);
    },
  };
}

/** Returns the whole body of a request. Throws error 7 with status 413 when it is too large. */
export async function boundedBody(context: Context<AppEnv>): Promise<ArrayBuffer> {
  await limitBody(context, async () => undefined);
  return context.req.arrayBuffer();
}

async function bytesOf(
  context: Context<AppEnv>,
  session: Session | undefined,
  bodies: CallersShare,
): Promise<ArrayBuffer> {
  const isRead = session?.isOwner ? () => undefined : takePlace(context, session, bodies);
  try {
    return await boundedBody(context);
  } finally {
    isRead();
  }
}

function takePlace(
  context: Context<AppEnv>,
  session: Session | undefined,
  bodies: CallersShare,
): () => void {
  try {
    return bodies.take(session?.caller.id ?? WITHOUT_CREDENTIALS);
  } catch (error) {
    // The body of this request is never read, so the connection cannot carry another request.
    context.header('connection', 'close');
    throw error;
  }
}

/** Throws error 7 with status 415 unless the body is said to be JSON in UTF-8, and not compressed. */
function requireJson({ req }: Context<AppEnv>): void {
  const [type = '', ...parameters] = (req.header('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((one) => /^\s*charset="?([^"]*)"?\s*$/.exec(one)?.[1])
    .find(Boolean);
  if (type.trim() !== 'application/json' || (charset !== undefined && charset !== 'utf-8')) {
    throw unsupportedMedia('The body must be JSON: send content-type application/json.');
  }
  const encoding = req.header('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw unsupportedMedia('The body must not be compressed: leave content-encoding out.');
  }
}

function unsupportedMedia(message: string): ApiError {
  return new ApiError('rejected', message, { httpStatus: 415 });
}

function textOf(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw rejected('', 'The body is not valid UTF-8 text: JSON is written in UTF-8.');
  }
}
