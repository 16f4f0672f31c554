import { en } from './en.ts';

/** Every text of the console. Another language is another table of the same type. */
export const text = en;
