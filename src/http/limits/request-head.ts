import { estimateShallowMemoryUsageOf } from 'bun:jsc';
import { ApiError, rejected } from '../../model/errors.ts';

/** The largest size in bytes of a request line together with its headers (docs/decisions.md 16). */
const MOST_HEAD_BYTES = 64 * 1024;
/**
 * A request whose text is at most this long is accepted without an exact count, which costs more than all other checks
 * of the request head. The 16 KiB below the limit cover what the text lacks: the names of common headers, which the
 * runtime leaves out, and four bytes around each of at most 200 headers.
 */
const SURELY_SHORT_BYTES = MOST_HEAD_BYTES - 16 * 1024;

/**
 * Throws error 7 with status 414 when the request line is longer than 64 KiB, and with status 431 when line and headers
 * together are. Bun itself rejects more than 128 KiB (set in `build.ts`) with an answer without a body.
 */
export function limitHead(request: Request): void {
  const { headers, url } = request;
  if (estimateShallowMemoryUsageOf(headers) + url.length < SURELY_SHORT_BYTES) return;
  const line = lineBytes(request);
  if (line > MOST_HEAD_BYTES) {
    throw new ApiError('rejected', 'The request line is longer than 64 KiB.', { httpStatus: 414 });
  }
  let bytes = line + 2;
  for (const [name, value] of headers) bytes += name.length + value.length + 4;
  if (bytes > MOST_HEAD_BYTES) {
    throw new ApiError('rejected', 'The request line and headers are longer than 64 KiB.', {
      httpStatus: 431,
    });
  }
}

/**
 * Throws error 7 for a request that announces trailer lines. The runtime takes them for a next request and ends the
 * connection with 400, so its caller would not learn what became of it (docs/decisions.md 166).
 */
export function rejectTrailer({ headers }: Request): void {
  if (!headers.has('trailer')) return;
  throw rejected('Trailer', 'is not read: send the body without trailer lines');
}

/** Returns the bytes of the request line: method, target and version, their spaces, and the line break. */
function lineBytes({ method, url }: Request): number {
  const target = url.length - new URL(url).origin.length;
  return method.length + target + ' '.length + ' HTTP/1.1\r\n'.length;
}
