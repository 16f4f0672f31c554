import { z } from 'zod';
import { INVISIBLE } from '../lib/invisible.ts';
import { once } from '../lib/once.ts';

/** The most Unicode code points of a note or message (docs/decisions.md 21). */
export const NOTE_MAX_CHARACTERS = 200;
/** The most UTF-8 bytes of a note or message (docs/decisions.md 21). */
const NOTE_MAX_BYTES = 512;

/** Returns the length limits of a text for the OpenAPI document. JSON Schema has no keyword for bytes. */
function textLimits(most: { readonly characters: number; readonly bytes: number }) {
  return { maxLength: most.characters, 'x-max-bytes': most.bytes };
}

/** Describes a field that the API's specification does not have; the OpenAPI document says so. */
export const addition = (description: string) => ({ description, addition: true });

/** An {@link addition} to a request, which may be left out. */
export function optionalAddition<S extends z.ZodType>(schema: S, description: string) {
  return schema.optional().meta(addition(description));
}

/** An {@link addition} to a resource, null where it does not apply and where an earlier version has stored it. */
export function laterAddition<S extends z.ZodType>(schema: S, description: string) {
  return schema.nullable().default(null).meta(addition(description));
}

/** Text of at most `maxBytes` UTF-8 bytes, in a request. It may be empty. */
function unicodeText(maxBytes: number) {
  return z
    .string()
    .refine((text) => text.isWellFormed() && Buffer.byteLength(text) <= maxBytes, {
      message: `must be Unicode text of at most ${maxBytes} UTF-8 bytes`,
    })
    .meta(textLimits({ characters: maxBytes, bytes: maxBytes }));
}

/**
 * A name that people see, in a request: {@link unicodeText} on one line. Characters that show nothing are taken out,
 * because a name could look like another one by them (docs/decisions.md 214).
 */
export function nameInput(maxBytes: number) {
  return unicodeText(maxBytes).overwrite((text) => text.replace(INVISIBLE, ''));
}

/** A note, message or description: not empty, at most 200 characters and 512 bytes (docs/decisions.md 21). */
export const noteInput = once(() =>
  z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => text.isWellFormed(), { message: 'must be valid Unicode text' })
    .refine((text) => [...text].length <= NOTE_MAX_CHARACTERS, {
      message: `must be at most ${NOTE_MAX_CHARACTERS} characters`,
    })
    .refine((text) => Buffer.byteLength(text) <= NOTE_MAX_BYTES, {
      message: `must be at most ${NOTE_MAX_BYTES} UTF-8 bytes`,
    })
    .meta(textLimits({ characters: NOTE_MAX_CHARACTERS, bytes: NOTE_MAX_BYTES })),
);

/** A note that only the wallet's owner sees. */
export const personalNoteInput = once(() =>
  noteInput().describe('Private note for yourself; the other side never sees it.'),
);

/** The most Unicode code points of a caller's own id. */
const EXTERNAL_ID_MAX_CHARACTERS = 255;

/**
 * A caller's own id for a payment, such as an order number: 1 to 255 characters, none of them a control character,
 * which no order number has and no store could look for (docs/decisions.md 184).
 */
export const externalIdInput = once(() =>
  z
    .string()
    .min(1, 'must not be empty')
    .refine((text) => text.isWellFormed(), { message: 'must be valid Unicode text' })
    .refine((text) => !/\p{Cc}/u.test(text), { message: 'must have no control characters' })
    .refine((text) => [...text].length <= EXTERNAL_ID_MAX_CHARACTERS, {
      message: `must be at most ${EXTERNAL_ID_MAX_CHARACTERS} characters`,
    })
    .meta({
      description:
        'Your own id, such as an order number. Several payments may have the same; the other side never sees it.',
      addition: true,
      maxLength: EXTERNAL_ID_MAX_CHARACTERS,
    }),
);

/** An id of this program in a request. No store is asked for a text that none can hold, such as one with a NUL. */
export function idInput(maxCharacters: number) {
  return z
    .string()
    .max(maxCharacters)
    .regex(/^[ -~]*$/, 'must be printable ASCII characters');
}

/** Hex of exactly `bytes` bytes, in a request. Capitals are converted to lower case. */
export function hexInput(bytes: number) {
  return z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`), `must be ${bytes * 2} hex characters`)
    .transform((text) => text.toLowerCase());
}

/** A node's public key in a request: 33 bytes of hex. Capitals are converted to lower case. */
export const nodePkInput = once(() =>
  z
    .string()
    .regex(/^0[23][0-9a-fA-F]{64}$/, 'must be 66 hex characters that begin with 02 or 03')
    .transform((text) => text.toLowerCase()),
);

/** Lowercase hex of exactly `bytes` bytes, in an answer. */
export function hexOutput(bytes: number) {
  return z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
}

/** Milliseconds since the UNIX epoch. */
export const timestamp = once(() =>
  z
    .int()
    .min(0)
    .meta({ examples: [1764000000000] }),
);

/** How many UTF-8 bytes the description field of a BOLT 11 invoice can hold (1023 groups of 5 bits). */
export const INVOICE_DESCRIPTION_MAX_BYTES = 639;

/** The schema of an invoice's description (docs/decisions.md 21). */
export const invoiceDescriptionInput = once(() => unicodeText(INVOICE_DESCRIPTION_MAX_BYTES));
