/** The result of a parser: a value, or a text that says what is wrong and never repeats the input. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };
