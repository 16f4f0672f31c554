/** What a parser found: a value, or what is wrong in words that never hold the value itself. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };
