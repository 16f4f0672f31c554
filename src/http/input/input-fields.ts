import { z } from 'zod';

/** The fields that a schema knows, which are needed before the schema itself validates. */
export interface InputFields {
  readonly known: ReadonlyMap<string, InputField>;
  /** Whether the schema rejects unknown fields. If so, they are kept in the input for it to reject. */
  readonly strict: boolean;
}

interface InputField {
  /** Whether null is a valid value of the field, and not the same as leaving the field out. */
  readonly takesNull: boolean;
  readonly fields: InputFields | null;
}

/** The part of an input that is passed to its schema, and the fields that were ignored. */
export interface PresentInput {
  readonly value: unknown;
  /** The path to each unknown field. */
  readonly ignored: readonly (readonly string[])[];
}

/** Returns the fields of an object schema; null for any other schema. */
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

/** Removes null, which means absent, and fields that the schema does not know (docs/decisions.md 17, 19). */
export function presentInput(fields: InputFields | null, value: unknown): PresentInput {
  const ignored: string[][] = [];
  return { value: fields ? present(fields, value, [], ignored) : value, ignored };
}

function present(
  fields: InputFields,
  value: unknown,
  path: readonly string[],
  ignored: string[][],
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value;
  }
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const field = fields.known.get(name);
    if (field === undefined) {
      if (fields.strict) entries.push([name, member]);
      else ignored.push([...path, name]);
    } else if (member !== null || field.takesNull) {
      const { fields: inner } = field;
      entries.push([name, inner ? present(inner, member, [...path, name], ignored) : member]);
    }
  }
  return Object.fromEntries(entries);
}

/** Returns the schema that reads the value first, inside wrappers of defaults, options and transformations. */
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
