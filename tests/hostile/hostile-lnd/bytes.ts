import type { ServerResponse } from 'node:http';
import type { Json } from '../fake-lnd/rpc.ts';
import type { Misdeed } from '../hostile-lnd.ts';

/** Misdeeds in bytes: answers that are too large, too slow, broken or in another form. */

const JSON_HEAD = { 'content-type': 'application/json' };
const CHUNK = Buffer.alloc(65_536, 'a');

/** A misdeed that sends bytes as fast as the caller reads them, up to `most`. A bounded caller reads few of them. */
export interface Flood extends Misdeed {
  /** The most bytes that were written to one request, including those that are still in its socket. */
  largest(): number;
  /** The number of such requests that have ended, because the caller disconnected or `most` was reached. */
  ended(): number;
}

/** A JSON object with an endless string value; in a stream it is one line without an end. */
export function endlessBody(of: RegExp, most = 2 ** 30): Flood {
  return flood(of, '{"result":{"alias":"', CHUNK, most);
}

/** A JSON object whose list `field` has items of the right form without end. */
export function endlessList(of: RegExp, field: string, item: Json, most = 2 ** 30): Flood {
  const text = `${JSON.stringify(item)},`;
  const chunk = Buffer.from(text.repeat(Math.ceil(CHUNK.length / text.length)));
  return flood(of, `{"${field}":[`, chunk, most);
}

/** Accepts and never answers. */
export function silent(of?: RegExp): Misdeed {
  return { ...only(of), answer: () => {} };
}

/** Sends the head, and then one byte of a JSON object every `everyMs`. */
export function trickle(of?: RegExp, everyMs = 1000): Misdeed {
  return {
    ...only(of),
    answer: (response) => {
      response.writeHead(200, JSON_HEAD);
      response.write('{');
      const timer = setInterval(() => response.write(' '), everyMs);
      response.once('close', () => clearInterval(timer));
    },
  };
}

/** Answers with a redirect; 307 and 308 ask the caller to send its body again. */
export function redirects(to: string, status: 301 | 302 | 307 | 308 = 307): Misdeed {
  return {
    answer: (response) => {
      response.writeHead(status, { location: to });
      response.end();
    },
  };
}

/** Answers with an HTML page, as a proxy in front of the node does. */
export function html(status: 200 | 502 | 504, of?: RegExp): Misdeed {
  const page = '<html><head><title>Bad Gateway</title></head><body>nginx</body></html>';
  return fixed(status, page, of, 'text/html');
}

/** Answers with this JSON, whatever was asked. */
export function answers(value: Json, of?: RegExp, status = 200): Misdeed {
  return fixed(status, JSON.stringify(value), of);
}

/** Answers with an error in LND's form. */
export function refuses(message: string, of?: RegExp, code = 2, status = 500): Misdeed {
  return answers({ code, message, details: [] }, of, status);
}

/** Answers with arrays within arrays, too deep for the stack of a parser. */
export function nests(depth = 200_000, of?: RegExp): Misdeed {
  return fixed(200, `{"version":${'['.repeat(depth)}${']'.repeat(depth)}}`, of);
}

/** Ends the connection in the middle of a body that was announced as longer. */
export function breaksOff(of?: RegExp): Misdeed {
  return {
    ...only(of),
    answer: async (response) => {
      response.writeHead(200, { ...JSON_HEAD, 'content-length': 1000 });
      response.write('{"version":"0.2');
      // The beginning must be sent before the connection ends.
      await Bun.sleep(20);
      response.socket?.destroy();
    },
  };
}

/** Ends the connection before any byte of the answer. */
export function cuts(of?: RegExp): Misdeed {
  return {
    ...only(of),
    answer: (response) => {
      response.socket?.destroy();
    },
  };
}

function fixed(
  status: number,
  body: string,
  of?: RegExp,
  type = JSON_HEAD['content-type'],
): Misdeed {
  return {
    ...only(of),
    answer: (response) => {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    },
  };
}

function flood(of: RegExp, head: string, chunk: Buffer, most: number): Flood {
  let largest = 0;
  let ended = 0;
  const pour = async (response: ServerResponse) => {
    response.writeHead(200, JSON_HEAD);
    response.write(head);
    let sent = 0;
    const left = Promise.withResolvers<void>();
    response.once('close', left.resolve);
    while (sent < most && !response.destroyed) {
      sent += chunk.length;
      largest = Math.max(largest, sent);
      if (response.write(chunk)) continue;
      const ready = Promise.withResolvers<void>();
      response.once('drain', ready.resolve);
      await Promise.race([ready.promise, left.promise]);
    }
    ended += 1;
    response.end();
  };
  return { of, answer: pour, largest: () => largest, ended: () => ended };
}

function only(of: RegExp | undefined): Pick<Misdeed, 'of'> {
  return of === undefined ? {} : { of };
}
