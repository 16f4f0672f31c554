import type { Document, Schema } from './document.ts';

/** Returns the document with the values of a named enum wherever it is referred to, as the page shows them there. */
export function withEnumsInPlace(document: Document): Document {
  const schemas = Object.entries(document.components.schemas);
  const enums = new Map(
    schemas
      .filter(([, schema]) => schema.enum)
      .map(([name, schema]) => [`#/components/schemas/${name}`, schema]),
  );
  const inPlace = JSON.parse(JSON.stringify(document), (_, value: Schema | null) => {
    const { $ref = '', ...given } = value instanceof Object ? value : {};
    const named = enums.get($ref);
    return named ? { ...named, ...given } : value;
  }) as Document;
  const others = Object.entries(inPlace.components.schemas).filter(([, schema]) => !schema.enum);
  return { ...inPlace, components: { schemas: Object.fromEntries(others) } };
}
