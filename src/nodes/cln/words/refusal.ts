import { ApiError, endedCredentials, refused } from '../../../model/errors.ts';
import { foreignText } from '../../../net/foreign-text.ts';
import { MOST_SHOWN_CHARACTERS, unsupportedBy } from '../../refusals.ts';

/** Longer than any hash, key or id in its messages, so it may be a rune or an invoice's secret part. */
const TOKEN = /[0-9a-f]{80,}|[0-9a-z+/_=-]{100,}/gi;

/** The codes of Core Lightning on which something depends here; `common/jsonrpc_errors.h` lists them. */
export const CODES = {
  unknownCommand: -32601,
  invalidParameters: -32602,
  /** What a plugin says has no other code. */
  pluginError: -3,
  /** `xpay` */
  alreadyPaid: 219,
  /** `invoice`, `delinvoice` */
  labelTaken: 900,
  hashTaken: 901,
  invoiceNotFound: 905,
  invoiceStatus: 906,
  /** `fetchinvoice` */
  issuerSilent: 1005,
  /** runes */
  noRune: 1501,
  notPermitted: 1502,
  blacklisted: 1503,
} as const;

/** An error answer of Core Lightning. */
export class ClnRefusal extends Error {
  override readonly name = 'ClnRefusal';
  /** Its own message, safe to show, and cut where it is long. */
  readonly text: string;
  readonly #words: string;
  constructor(
    /** Null where clnrest could not ask the node, or not read its answer. */
    readonly code: number | null,
    words: string,
  ) {
    const text = foreignText(words.replace(TOKEN, '...'), { maxCharacters: MOST_SHOWN_CHARACTERS });
    super(`Core Lightning answered ${code}: ${text}`);
    this.text = text;
    this.#words = words;
  }

  /** Whether its whole message says so. */
  says(pattern: RegExp): boolean {
    return pattern.test(this.#words);
  }
}

/** Core Lightning's error answer inside an error of this connector; null for every other error. */
export function refusalIn(error: unknown): ClnRefusal | null {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof ClnRefusal ? cause : null;
}

/** The code of {@link refusalIn}; null for every other error. */
export function codeOf(error: unknown): number | null {
  return refusalIn(error)?.code ?? null;
}

/**
 * Whether the node will never accept the rune again. `Not permitted` is said of what the rune does not allow, and of a
 * rune that has a rate when calls follow too fast: the rune lives on then, as it does while the node restarts. A time
 * that is over is told in the same way, but for good.
 */
function isEnded({ code, text }: ClnRefusal): boolean {
  return (
    code === CODES.blacklisted || code === CODES.noRune || /^Not permitted: time is /.test(text)
  );
}

/** Whether the rune has a rate (`rate` or `per`), and the call came too soon after another. Nothing was done then. */
function isTooSoon(refusal: ClnRefusal): boolean {
  return refusal.code === CODES.notPermitted && refusal.says(/\btoo soon\b/);
}

/** The error of this API for an error answer of Core Lightning (docs/api.md, Errors). */
export function refusalError(
  refusal: ClnRefusal,
  { method, outcomeUnknown }: { readonly method: string; readonly outcomeUnknown: boolean },
): ApiError {
  const { code, text } = refusal;
  if (isEnded(refusal)) return endedCredentials(refusal);
  // No lost permission: who may not read a list is told nothing of it, and this one may, a moment later.
  if (isTooSoon(refusal)) {
    return new ApiError(
      'overCapacity',
      `Core Lightning refused ${method}: its rune has a rate, and calls follow each other too fast. Try again in a moment, or run \`connect cln\` with a rune that has no rate.`,
      { cause: refusal },
    );
  }
  if (code === CODES.notPermitted) {
    return new ApiError(
      'forbidden',
      `Core Lightning refused: the rune does not allow ${method} (${text}).`,
      { cause: refusal },
    );
  }
  if (code === CODES.unknownCommand) {
    return unsupportedBy(
      'cln',
      `This Core Lightning has no command ${method}: enable the plugin that has it, or use release 26.06 or newer.`,
      refusal,
    );
  }
  if (code === null) {
    return new ApiError(
      'unreachable',
      `clnrest could not ask Core Lightning: ${text}. Check that lightningd is running, and try again.`,
      { cause: refusal, outcomeUnknown },
    );
  }
  if (outcomeUnknown) {
    return new ApiError(
      'unreadable',
      `The answer of Core Lightning does not say whether it carried out the request: ${text}.`,
      { cause: refusal, outcomeUnknown },
    );
  }
  return refused(`Core Lightning refused: ${text}.`, refusal);
}
