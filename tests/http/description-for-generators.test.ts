import { describe, expect, test } from 'bun:test';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { docsRoutes } from '../../src/http/routes/docs.ts';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';

type Members = Readonly<Record<string, unknown>>;

const served = [...ROUTES, ...SANDBOX_ROUTES];
const document = JSON.parse(
  JSON.stringify(
    openApiDocument([...served, ...docsRoutes(served)], {
      version: '0',
      serverUrl: 'http://127.0.0.1:5393',
    }),
  ),
) as Members;

interface Place {
  readonly path: string;
  readonly members: Members;
}
const places = [...everyObject(document, '#')];
const enums = places.filter(({ members }) => Array.isArray(members.enum));
const operations = places.filter(({ members }) => typeof members.operationId === 'string');

/** Yields every object of the document and its place, except for examples, which describe nothing. */
function* everyObject(value: unknown, path: string): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { path, members: value as Members };
  for (const [name, member] of Object.entries(value)) {
    if (name !== 'example' && name !== 'examples') yield* everyObject(member, `${path}/${name}`);
  }
}

function hasType({ members }: Place, type: string): boolean {
  return [members.type].flat().includes(type);
}

function pathsOf(found: readonly Place[]): string[] {
  return found.map(({ path }) => path);
}

/** The rules of docs/decisions.md 167. */
describe('the OpenAPI document, read by a generator of clients,', () => {
  test('says of every whole number that it has 64 bits', () => {
    const whole = places.filter((place) => hasType(place, 'integer'));
    expect(whole.length).toBeGreaterThan(100);
    expect(pathsOf(whole.filter(({ members }) => members.format !== 'int64'))).toEqual([]);
    expect(pathsOf(places.filter((place) => hasType(place, 'number')))).toEqual([]);
  });

  test('has amounts as text with a pattern, of which no generator makes a floating point number', () => {
    const amounts = places.filter(({ members }) => members['x-unit'] === 'sat');
    expect(amounts.length).toBeGreaterThan(70);
    for (const { path, members } of amounts) {
      const isText = [members.type].flat().every((type) => type === 'string' || type === 'null');
      expect([path, isText, typeof members.pattern]).toEqual([path, true, 'string']);
    }
    const formats = new Set(
      places.filter((place) => hasType(place, 'string')).map(({ members }) => members.format),
    );
    expect([...formats].toSorted()).toEqual(['date-time', undefined]);
  });

  test('names every enum that may be null or has a default', () => {
    expect(enums.length).toBeGreaterThan(20);
    const trapped = enums.filter(
      ({ path, members }) =>
        hasType({ path, members }, 'null') ||
        (members.enum as unknown[]).includes(null) ||
        'default' in members,
    );
    expect(pathsOf(trapped)).toEqual([]);
    const named = Object.entries((document.components as { schemas: Members }).schemas)
      .filter(([, schema]) => 'enum' in (schema as Members))
      .map(([name]) => name);
    expect(named).toEqual([
      'AddressType',
      'FetchMethod',
      'OutsideBehavior',
      'PaymentOrder',
      'Priority',
    ]);
  });

  test('keeps the default and the meaning of a field beside the name of its enum', () => {
    const priority = (path: string) =>
      places.find((place) => place.path.startsWith(path) && place.path.endsWith('/priority'));
    const either = [{ $ref: '#/components/schemas/Priority' }, { type: 'null' }];
    expect(priority('#/paths//v2/node/pay_onchain/')?.members).toEqual({
      description: expect.stringContaining('about 1 block'),
      default: 'normal',
      anyOf: either,
    });
    expect(priority('#/paths//v2/node/bump_fee/')?.members).toMatchObject({ default: 'high' });
  });

  test('has no rule of a body where generators look for types', () => {
    const mixed = places.filter(
      ({ members }) =>
        'properties' in members && ['allOf', 'not'].some((keyword) => keyword in members),
    );
    expect(pathsOf(mixed)).toEqual([]);
    const ruled = places.filter(({ members }) => 'if' in members);
    expect(ruled.length).toBeGreaterThan(4);
    for (const { members } of ruled) {
      expect(members.if).toEqual({ not: { type: 'object' } });
      expect(members.else).toEqual({ allOf: expect.any(Array) });
    }
  });

  test('has no tag with the name of a section, or for endpoints and webhooks alike', () => {
    const tagsBelow = (section: string) =>
      new Set(
        operations
          .filter(({ path }) => path.startsWith(`#/${section}/`))
          .flatMap(({ members }) => members.tags as string[]),
      );
    const [ofPaths, ofWebhooks] = [tagsBelow('paths'), tagsBelow('webhooks')];
    expect(ofPaths.size).toBeGreaterThan(10);
    expect(ofWebhooks.size).toBe(1);
    expect(ofPaths.isDisjointFrom(ofWebhooks)).toBe(true);
    const declared = (document.tags as { name: string }[]).map(({ name }) => name);
    expect(new Set(declared)).toEqual(ofPaths);
    expect([...ofPaths, ...ofWebhooks].filter((tag) => tag in document)).toEqual([]);
  });

  test('names every operation once, those of webhooks included', () => {
    const ids = operations.map(({ members }) => members.operationId);
    expect(ids.length).toBeGreaterThan(60);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
