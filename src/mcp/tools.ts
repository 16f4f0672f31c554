import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Route } from '../http/route.ts';

/** How long a tool call may take in seconds. Programs that speak MCP give a call up after 60 by themselves. */
export const MOST_CALL_SECS = 50;

/** The argument of a tool that becomes the header Idempotency-Key. */
export const KEY_ARGUMENT = 'idempotency_key';

/** A route as a tool. */
export interface Tool {
  readonly route: Route;
  readonly shown: ListedTool;
}

type InputSchema = ListedTool['inputSchema'];

/** Returns the tools among routes, made from the routes' data alone. */
export function toolsOf(routes: readonly Route[]): readonly Tool[] {
  return routes
    .filter(({ isTool }) => isTool)
    .map((route) => ({
      route,
      shown: {
        name: route.path.slice(route.path.lastIndexOf('/') + 1),
        description: forTools([route.summary, route.description].filter(Boolean).join('. ')),
        inputSchema: inputSchemaOf(route),
        annotations: {
          readOnlyHint: route.method === 'get',
          destructiveHint: route.movesMoney === true,
          idempotentHint: true,
          openWorldHint: route.movesMoney === true,
        },
      },
    }));
}

function inputSchemaOf(route: Route): InputSchema {
  const schema = (route.hasBody ? route.body : route.query) ?? z.object({});
  const {
    properties = {},
    required = [],
    $defs = {},
  } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => describe(jsonSchema),
  });
  const key = route.takesKey ? { [KEY_ARGUMENT]: keySchema(route) } : {};
  const needed = [
    ...required,
    ...(route.neededInBodyOrQuery ?? []),
    ...(route.movesMoney ? [KEY_ARGUMENT] : []),
  ];
  return {
    type: 'object',
    properties: { ...inPlace(properties, $defs), ...key } as InputSchema['properties'],
    required: needed,
    additionalProperties: false,
  };
}

/** Leaves out sentences on bodies and queries of requests: a tool has arguments alone. */
function forTools(description: string): string {
  return description.replace(/ [^.]*\bquery\./g, '');
}

/** What a schema has for other readers, and what only the API itself has to check. */
const LEFT_OUT = ['accepts', 'addition', 'examples', 'id', 'x-max-bytes'];
/** What stays of amounts without them: a text, or a whole number. */
const FORMS = new Set(['pattern', 'not']);

/** Replaces what zod derives by what a schema says that it accepts, and leaves out what serves other readers. */
function describe(schema: Record<string, unknown>): void {
  if (schema.accepts) Object.assign(schema, schema.accepts);
  if (typeof schema.description === 'string') schema.description = forTools(schema.description);
  for (const name of LEFT_OUT) delete schema[name];
}

/**
 * Puts schemas with a name of their own where they are referred to, since not every reader follows references, and
 * leaves out the forms of texts, which no model reads.
 */
function inPlace(properties: object, named: Readonly<Record<string, object>>): object {
  return JSON.parse(JSON.stringify(properties), (member, value) => {
    if (FORMS.has(member)) return undefined;
    const { $ref, ...rest } = Object(value);
    const name = typeof $ref === 'string' ? $ref.replace('#/$defs/', '') : null;
    return name === null ? value : inPlace({ ...named[name], ...rest }, named);
  });
}

function keySchema({ movesMoney }: Route): object {
  return {
    type: 'string',
    maxLength: 255,
    description: movesMoney
      ? 'A new random text for each payment that is meant. Repeat a call with the same text when its answer was lost: it never pays twice.'
      : 'A new random text for each new call; the same text repeats a call.',
  };
}
