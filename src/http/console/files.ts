import { gunzipSync } from 'node:zlib';
import { ApiError } from '../../model/errors.ts';

/** A file of the console, as the build makes it. */
export interface ConsoleFile {
  /** Its name below `/console/`; two of them are the page itself. */
  readonly name: string;
  readonly mediaType: string;
  /** The content, compressed with gzip, in base64. */
  readonly gzip: string;
  /** A text that changes with the content. */
  readonly hash: string;
  /** The SHA-256 in base64 of the style that stands in the file; null where none does. */
  readonly styleHash: string | null;
}

/** The name of the file that is the page, as a browser without a session sees it first. */
export const PAGE = 'index.html';
/** The same page, as a browser with a session sees it first. */
export const SIGNED_IN_PAGE = 'signed-in.html';

/**
 * The page runs its own scripts alone, has the one style that stands in it, talks to its own origin alone, stands in no
 * frame, and makes nodes from values, never from HTML text (docs/decisions.md 134). The camera reads QR codes.
 */
function pageHeaders(styleHash: string): Readonly<Record<string, string>> {
  return {
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'sha256-${styleHash}'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(self), clipboard-write=(self), geolocation=(), microphone=()',
    'cache-control': 'no-cache',
    // Which form of the page it is depends on whether the browser has a session.
    vary: 'accept-encoding, cookie',
  };
}

const FILE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
};

/** Returns the answer with the file of that name. Throws error 107 when there is none. */
type ServeConsoleFile = (name: string, headers: Headers) => Response;

/** Returns a function that serves these files. The names of all but the page change with their content. */
export function consoleFiles(files: readonly ConsoleFile[]): ServeConsoleFile {
  const found = new Map(
    files.map((file) => [
      file.name,
      { ...file, bytes: new Uint8Array(Buffer.from(file.gzip, 'base64')) },
    ]),
  );
  return (name, headers) => {
    const file = found.get(name);
    if (file === undefined) throw notThere(name);
    const etag = `"${file.hash}"`;
    const own = {
      ...FILE_HEADERS,
      ...(file.styleHash === null ? {} : pageHeaders(file.styleHash)),
      etag,
    };
    if (headers.get('if-none-match') === etag)
      return new Response(null, { status: 304, headers: own });
    const isCompressed = /\bgzip\b/.test(headers.get('accept-encoding') ?? '');
    return new Response(isCompressed ? file.bytes : gunzipSync(file.bytes), {
      headers: {
        ...own,
        'content-type': file.mediaType,
        ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      },
    });
  };
}

function notThere(name: string): ApiError {
  return new ApiError(
    'notFound',
    name === PAGE || name === SIGNED_IN_PAGE
      ? 'The console is in the compiled program alone: run "npm run build".'
      : 'There is no such file: load the page again.',
  );
}
