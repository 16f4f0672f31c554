/**
 * A JSON Schema for a rule between the members of a body. It describes in the OpenAPI document what a refinement of the
 * zod schema checks. Null counts as absent (docs/decisions.md 19).
 */
type Rule = Readonly<Record<string, unknown>>;

/** Returns the rule that the member `name` is present. */
export function given(name: string): Rule {
  return { required: [name], properties: { [name]: { not: { type: 'null' } } } };
}

/** Returns the rule that the flag `name` is true. */
export function isTrue(name: string): Rule {
  return { required: [name], properties: { [name]: { const: true } } };
}

/** Returns the rule that `rule` holds wherever `condition` holds. */
export function implies(condition: Rule, rule: Rule): Rule {
  return { anyOf: [{ not: condition }, rule] };
}

/** Returns the rule that `other` is present wherever `name` is. */
export function needs(name: string, other: string): Rule {
  return implies(given(name), given(other));
}

/** Returns the rule that one of the two names is absent. */
export function excludesBoth(name: string, other: string): Rule {
  return { not: { allOf: [given(name), given(other)] } };
}

/** Returns the rule that `name` is absent wherever `flag` is true. */
export function excludes(name: string, flag: string): Rule {
  const { properties } = given(name);
  return {
    not: {
      required: [name, flag],
      properties: { ...(properties as object), [flag]: { const: true } },
    },
  };
}

/** Returns the rule that at least one of the named lists is present and not empty. */
export function oneHolds(...names: readonly string[]): Rule {
  return {
    anyOf: names.map((name) => ({
      required: [name],
      properties: { [name]: { not: { type: 'null' }, minItems: 1 } },
    })),
  };
}
