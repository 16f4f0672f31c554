import { z } from 'zod';

/** The fields that a schema of an input knows: what is looked at before the schema itself validates. */
export interface InputFields {
  readonly known: ReadonlyMap<string, InputField>;
  /** Whether the schema itself rejects unknown fields: they stay for it to see. */
  readonly strict: boolean;
}

interface InputField {
  /** Whether null is a value there, with a meaning of its own. */
  readonly takesNull: boolean;
  /** The fields of the object in it; null where it holds none. */
  readonly fields: InputFields | null;
}

/** What of an input its schema is given, and what was left out as unknown. */
export interface PresentInput {
  readonly value: unknown;
  /** Names of unknown fields, each as the path to it. */
  readonly ignored: readonly (readonly string[])[];
}

/** The fields of an object's schema; null for a schema of anything else. */
export function inputFields(schema: z.ZodType): InputFields | null {
  const inner = innerSchema(schema);
  if (!(inner instanceof z.ZodObject)) return null;
  const shape = inner.shape as Readonly<Record<string, z.ZodType>>;
  return {
    known: new Map(
      Object.entries(shape).map(([name, field]) => [
        name,
        { takesNull: field.safeParse(null).success, fields: inputFields(field) },
      ]),
    ),
    strict: inner.def.catchall instanceof z.ZodNever,
  };
}

/** Leaves out null, which is absent, and fields that the schema does not know (decisions section 3). */
export function presentInput(fields: InputFields | null, value: unknown): PresentInput {
  const ignored: string[][] = [];
  return { value: present(fields, value, [], ignored), ignored };
}

function present(
  fields: InputFields | null,
  value: unknown,
  path: readonly string[],
  ignored: string[][],
): unknown {
  if (fields === null || typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value;
  }
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const field = fields.known.get(name);
    if (field === undefined) {
      if (fields.strict) entries.push([name, member]);
      else ignored.push([...path, name]);
    } else if (member !== null || field.takesNull) {
      entries.push([name, present(field.fields, member, [...path, name], ignored)]);
    }
  }
  return Object.fromEntries(entries);
}

/** The schema that sees the value first: without what makes it optional, a default, or a transformation after it. */
function innerSchema(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return innerSchema(schema.def.innerType as z.ZodType);
  }
  if (schema instanceof z.ZodPipe) return innerSchema(schema.def.in as z.ZodType);
  return schema;
}
