import { estimateShallowMemoryUsageOf } from 'bun:jsc';
import { ApiError } from '../../model/errors.ts';

/** Most bytes of a request line and its headers together (decisions section 3). */
const MOST_HEAD_BYTES = 64 * 1024;
/**
 * What a request may take in memory without being counted byte by byte, which costs more than the rest of its checks.
 * The difference is more than the runtime leaves out: the names of common headers, and four bytes around each of the
 * 200 headers that it accepts.
 */
const SURELY_SHORT_BYTES = MOST_HEAD_BYTES - 16 * 1024;

/**
 * Throws error 7 with status 414 or 431 when the request line, or it and the headers, are longer than 64 KiB. The
 * runtime itself rejects what is longer than 128 KiB (build.ts), without a body.
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

/** Method, target and version with the spaces between them and the line's end. */
function lineBytes({ method, url }: Request): number {
  const target = url.length - new URL(url).origin.length;
  return method.length + target + ' '.length + ' HTTP/1.1\r\n'.length;
}
