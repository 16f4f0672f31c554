import { z } from 'zod';

/** Most Unicode code points of a note or message (contract, Limits). */
const NOTE_MAX_CHARACTERS = 200;
/** Most UTF-8 bytes of a note or message (contract, Limits). */
const NOTE_MAX_BYTES = 512;

/** A note, message, offer description or proof note: non-empty, at most 200 characters and 512 UTF-8 bytes. */
export const noteInput = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => text.isWellFormed(), { message: 'must be valid Unicode text' })
  .refine((text) => [...text].length <= NOTE_MAX_CHARACTERS, {
    message: `must be at most ${NOTE_MAX_CHARACTERS} characters`,
  })
  .refine((text) => Buffer.byteLength(text) <= NOTE_MAX_BYTES, {
    message: `must be at most ${NOTE_MAX_BYTES} UTF-8 bytes`,
  });

/** Lowercase hex of exactly `bytes` bytes; upper case is accepted and lowered. */
export function hexInput(bytes: number) {
  return z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`), `must be ${bytes * 2} hex characters`)
    .transform((text) => text.toLowerCase());
}

/** Lowercase hex of exactly `bytes` bytes, in an answer. */
export function hexOutput(bytes: number) {
  return z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
}

/** Milliseconds since the UNIX epoch (contract, Conventions). */
export const timestamp = z.int().min(0).meta({ description: 'Milliseconds since the UNIX epoch.' });
