import { PERMISSIONS, SCOPE_NAMES } from '../src/model/clients/permissions.ts';
import { isAmount, pascal, referredName, type Schema } from './api-description.ts';
import { block, docstring } from './python-text.ts';

/** Whether a type is one of an answer, or one that a caller gives. */
export type Use = 'answer' | 'request';

interface NamedList {
  readonly name: string;
  readonly values: readonly (string | number | null)[];
  readonly comment: string;
}

/** Lists of constants that appear in several types. */
const NAMED_LISTS: readonly NamedList[] = [
  {
    name: 'Scope',
    values: SCOPE_NAMES,
    comment: 'A group of permissions. Scopes are stable, so prefer them to permissions.',
  },
  {
    name: 'Permission',
    values: PERMISSIONS,
    comment: 'The right to use some endpoints. Names of permissions may change, so prefer scopes.',
  },
];

/** The Python types of schemas. Classes of objects without a name are declared as they are met. */
export class PythonTypes {
  readonly #named: Readonly<Record<string, Schema>>;
  readonly #declared = new Map<string, string>();

  constructor(named: Readonly<Record<string, Schema>>) {
    this.#named = named;
  }

  /** Returns the names of all types declared so far. */
  names(): readonly string[] {
    return [...this.#declared.keys()];
  }

  /** Returns the declarations so far; what a declaration needs stands before it. */
  text(): string {
    return [...this.#declared.values()].join('\n\n');
  }

  /** Declares a schema under a name, once. */
  declare(name: string, schema: Schema, use: Use, comment: string): void {
    if (this.#declared.has(name)) return;
    if (schema.enum) {
      this.#declared.set(name, constants({ name, values: schema.enum, comment }));
      return;
    }
    const choices = (schema.oneOf ?? schema.anyOf)?.filter((choice) => choice.properties);
    if (choices === undefined || choices.length === 0)
      this.#declareClass(name, schema, use, comment);
    else this.#declareUnion(name, choices, use, comment);
  }

  /** Returns the type of a schema. `name` is the one of the class, where the schema is an object that has none. */
  typeOf(schema: Schema, use: Use, name: string): string {
    const referred = referredName(schema);
    if (referred !== undefined) {
      const target = this.#named[referred] ?? {};
      this.declare(referred, target, use, target.description ?? referred);
      return referred;
    }
    if (schema.const !== undefined) return `Literal[${constant(schema.const)}]`;
    if (schema.enum) return this.#enumType(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return union(choices.map((choice) => this.typeOf(choice, use, name)));
    const types = [schema.type ?? 'unknown'].flat();
    return union(types.map((type) => this.#oneType(type, schema, use, name)));
  }

  #enumType(values: readonly (string | number | null)[]): string {
    const others = values.filter((value) => value !== null);
    const named = NAMED_LISTS.find((list) => literal(list.values) === literal(others));
    if (named) this.#declared.set(named.name, constants(named));
    const type = named?.name ?? literal(others);
    return others.length === values.length ? type : orNone(type);
  }

  #oneType(type: string, schema: Schema, use: Use, name: string): string {
    if (isAmount(type, schema)) return use === 'answer' ? 'Decimal' : 'Sats';
    if (type === 'object' && schema.properties) {
      this.declare(name, schema, use, schema.description ?? name);
      return name;
    }
    if (type === 'object' && typeof schema.additionalProperties === 'object') {
      return `Mapping[str, ${this.typeOf(schema.additionalProperties, use, name)}]`;
    }
    if (type === 'array' && schema.items) {
      const { description = name } = schema;
      const item = this.typeOf({ description, ...schema.items }, use, name);
      return use === 'answer' ? `tuple[${item}, ...]` : `Sequence[${item}]`;
    }
    const plain = { string: 'str', integer: 'int', boolean: 'bool', null: 'None' }[type];
    if (plain === undefined) throw new Error(`${name}: Python has no type for ${type}.`);
    return plain;
  }

  #declareUnion(name: string, choices: readonly Schema[], use: Use, comment: string): void {
    const members = choices.map((choice) => {
      const member = `${name}${tagOf(choice)}`;
      this.declare(member, choice, use, comment);
      return member;
    });
    this.#declared.set(name, `#: ${comment}\n${name} = Union[${members.join(', ')}]\n`);
  }

  #declareClass(name: string, schema: Schema, use: Use, comment: string): void {
    const parent = this.#parentOf(name, schema);
    const inherited = this.#named[parent ?? '']?.properties ?? {};
    if (parent !== undefined) this.typeOf({ $ref: `/${parent}` }, use, parent);
    const own = Object.entries(schema.properties ?? {}).filter(([field]) => !(field in inherited));
    const fields = own.map(([field, property]) => {
      const type = this.typeOf(property, use, `${name}${pascal(field)}`);
      const isOptional = !schema.required?.includes(field);
      const text = isOptional ? `${orNone(type)}${use === 'request' ? ' = None' : ''}` : type;
      return `${field}: ${text}\n${property.description ? docstring(property.description) : ''}`;
    });
    const head = `@dataclass(frozen=True, kw_only=True)\nclass ${name}${parent ? `(${parent})` : ''}:\n`;
    this.#declared.set(
      name,
      `${head}${block(docstring(comment))}${fields.map((it) => `\n${block(it)}`).join('')}`,
    );
  }

  /** Returns the named schema of which this one has every field and more. */
  #parentOf(name: string, { properties = {} }: Schema): string | undefined {
    return Object.entries(this.#named).find(([other, schema]) => {
      const fields = Object.entries(schema.properties ?? {});
      const isLarger = Object.keys(properties).length > fields.length;
      const hasAll = fields.every(
        ([field, property]) => JSON.stringify(properties[field]) === JSON.stringify(property),
      );
      return other !== name && fields.length > 0 && isLarger && hasAll;
    })?.[0];
  }
}

/** Returns a type or None. */
export function orNone(type: string): string {
  return union([type, 'None']);
}

/** Returns the union of types, None last. An amount and a whole number together are `Sats`. */
function union(types: readonly string[]): string {
  const parts = new Set(types.flatMap((type) => type.split(' | ')));
  if (parts.has('Sats')) parts.delete('int');
  const hasNone = parts.delete('None');
  return [...parts, ...(hasNone ? ['None'] : [])].join(' | ');
}

function constants({ name, values, comment }: NamedList): string {
  const lines = values.map((value) => `    ${constant(value)},\n`);
  return `#: ${comment}\n${name} = Literal[\n${lines.join('')}]\n`;
}

function literal(values: readonly (string | number | null)[]): string {
  return `Literal[${values.map(constant).join(', ')}]`;
}

function constant(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

/** Returns the words that tell a choice from the others: its constant field. */
function tagOf({ properties = {} }: Schema): string {
  const [field = '', schema] =
    Object.entries(properties).find(([, it]) => it.const !== undefined) ?? [];
  if (typeof schema?.const === 'boolean') return `${schema.const ? '' : 'Not'}${pascal(field)}`;
  return pascal(String(schema?.const).replaceAll('-', '_'));
}
