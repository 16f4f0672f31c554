import { zValidator } from '@hono/zod-validator';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, rejected } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';
import { parseExact } from '../input/exact-numbers.ts';
import { inputFields } from '../input/input-fields.ts';
import type { Route } from '../route.ts';
import { accept, noteIgnored, type ReadInput, readInput } from './validate.ts';

interface BodyBounds {
  /** Throws error 7 with status 413 for a larger body. */
  readonly limit: MiddlewareHandler<AppEnv>;
  /** In milliseconds; null where only the connection's idle limit holds. */
  readonly withinMs: number | null;
}

/** The bounds of bodies whose senders are known (docs/decisions.md 16). */
const USUAL: BodyBounds = { limit: limitTo(256), withinMs: null };
/** The bounds of bodies that anybody may send (docs/decisions.md 161). */
const OF_STRANGERS: BodyBounds = { limit: limitTo(16), withinMs: 5000 };
/** The largest body in bytes of which a malformed one is searched for the place where it goes wrong. */
const MOST_SEARCHED_BYTES = 4096;

/** Returns the bounds of the bodies of a route. */
export function boundsOf({ access }: Pick<Route, 'access'>): BodyBounds {
  return access === 'public' ? OF_STRANGERS : USUAL;
}

/**
 * Reads the body of a request, and returns its parsed value. `takePlace` takes the caller's place among those who send
 * bodies, and returns a function that gives it back.
 */
type ReadBody = (context: Context<AppEnv>, takePlace: () => () => void) => Promise<unknown>;

/**
 * Returns the function that reads and parses the JSON bodies of a route that has them. An empty body, or null, counts
 * as `{}`. Another content type is error 7 with status 415 (docs/decisions.md 16).
 */
export function bodyReader(route: Pick<Route, 'body' | 'access'>): ReadBody {
  // Most routes are never called in a process, so a schema is made and looked into at the first call.
  const validate = once(() => bodyValidator(route.body ?? z.object({})));
  const bounds = boundsOf(route);
  return async (context, takePlace) => {
    const bytes = await bytesOf(context, takePlace, bounds);
    const isEmpty = bytes.byteLength === 0;
    if (!isEmpty) requireJson(context);
    // Generated clients send null where no body was given.
    const value = (isEmpty ? null : await jsonIn(bytes)) ?? {};
    // The validator checks what was parsed here: by itself it would round long numbers without a sign.
    context.req.json = async () => value as never;
    await validate()(context, async () => undefined);
    // The type of a context tells what was validated only within Hono's own chains.
    return context.req.valid('json' as never);
  };
}

function bodyValidator(schema: z.ZodType): MiddlewareHandler<AppEnv> {
  const fields = inputFields(schema);
  const check = (result: unknown, context: Context<AppEnv>) => {
    const input = result as ReadInput;
    noteIgnored(context, input);
    accept(input);
  };
  return zValidator('json', schema, check, {
    validationFunction: (own, value) => readInput(own, fields, value),
  }) as MiddlewareHandler<AppEnv>;
}

/** Returns the whole body. Throws error 7: with 413 when it is too large, with 408 when it does not come in time. */
export async function boundedBody(
  context: Context<AppEnv>,
  { limit, withinMs }: BodyBounds,
): Promise<ArrayBuffer> {
  const whole = limit(context, async () => undefined).then(() => context.req.arrayBuffer());
  if (withinMs === null) return whole;
  const isRead = new AbortController();
  const late = sleep(withinMs, isRead.signal).then(() => {
    if (!isRead.signal.aborted) throw tooSlow(withinMs);
    return whole;
  });
  try {
    return await Promise.race([whole, late]);
  } catch (error) {
    closeAfterAnswer(context);
    throw error;
  } finally {
    isRead.abort();
  }
}

async function bytesOf(
  context: Context<AppEnv>,
  takePlace: () => () => void,
  bounds: BodyBounds,
): Promise<ArrayBuffer> {
  let isRead: () => void;
  try {
    isRead = takePlace();
  } catch (error) {
    closeAfterAnswer(context);
    throw error;
  }
  try {
    return await boundedBody(context, bounds);
  } finally {
    isRead();
  }
}

/** Where the body of a request is not read to its end, the connection cannot carry another request. */
function closeAfterAnswer(context: Context<AppEnv>): void {
  context.header('connection', 'close');
}

function limitTo(kib: number): MiddlewareHandler<AppEnv> {
  return bodyLimit({
    maxSize: kib * 1024,
    onError: () => {
      throw new ApiError('rejected', `The body is larger than ${kib} KiB.`, { httpStatus: 413 });
    },
  });
}

function tooSlow(withinMs: number): ApiError {
  return new ApiError(
    'rejected',
    `The body did not arrive within ${withinMs / 1000} seconds: send it at once.`,
    { httpStatus: 408 },
  );
}

async function jsonIn(bytes: ArrayBuffer): Promise<unknown> {
  const text = textOf(bytes);
  try {
    return parseExact(text);
  } catch (error) {
    // A long number is looked for in every value, however deep.
    if (error instanceof RangeError) throw rejected('', 'The body is nested too deeply.');
    if (bytes.byteLength > MOST_SEARCHED_BYTES) {
      throw rejected('', 'The body is not JSON: only in one of up to 4 KiB the place is told.');
    }
    const { jsonProblem } = await import('../input/json-problem.ts');
    throw rejected('', jsonProblem(text));
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
