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
  /** What `tools/list` shows of it. */
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
        description: [route.summary, route.description].filter(Boolean).join('. '),
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
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
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
    properties: { ...properties, ...key } as InputSchema['properties'],
    required: needed,
    additionalProperties: false,
  };
}

/** Replaces what zod derives by what a schema says that it accepts, and leaves out what serves other readers. */
function describe(schema: Record<string, unknown>): void {
  const { accepts } = schema;
  if (accepts) delete schema.pattern;
  if (accepts) Object.assign(schema, accepts);
  for (const name of ['accepts', 'addition', 'examples', 'id']) delete schema[name];
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
