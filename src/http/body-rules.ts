/**
 * JSON Schema for rules between the members of a body, which stand beside the check that enforces them. Null counts as
 * absent (decisions section 3).
 */
type Rule = Readonly<Record<string, unknown>>;

/** The member is given. */
export function given(name: string): Rule {
  return { required: [name], properties: { [name]: { not: { type: 'null' } } } };
}

/** Where the one holds, the other must. */
export function implies(condition: Rule, rule: Rule): Rule {
  return { anyOf: [{ not: condition }, rule] };
}

/** With the one member the other is required. */
export function needs(name: string, other: string): Rule {
  return implies(given(name), given(other));
}

/** The member may not be given while the flag is true. */
export function excludes(name: string, flag: string): Rule {
  const { properties } = given(name);
  return {
    not: {
      required: [name, flag],
      properties: { ...(properties as object), [flag]: { const: true } },
    },
  };
}

/** One of the lists holds something. */
export function oneHolds(...names: readonly string[]): Rule {
  return {
    anyOf: names.map((name) => ({
      required: [name],
      properties: { [name]: { not: { type: 'null' }, minItems: 1 } },
    })),
  };
}
