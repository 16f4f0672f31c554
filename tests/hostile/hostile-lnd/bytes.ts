import type { ServerResponse } from 'node:http';
import type { Json } from '../fake-lnd/rpc.ts';
import type { Misdeed } from '../hostile-lnd.ts';

/** Answers that break the transport, the form or the reader's patience. */

const JSON_HEAD = { 'content-type': 'application/json' };
const CHUNK = Buffer.alloc(65_536, 'a');

/** Bytes as fast as they are taken, up to `most`, of which the reader should take few. */
export interface Flood extends Misdeed {
  /** Bytes written to the request that took most; what its socket holds counts too. */
  largest(): number;
  /** How many requests are over, by their caller's leaving or at `most`. */
  ended(): number;
}

/** An endless string value of a JSON object; in a stream one line without an end. */
export function endlessBody(of: RegExp, most = 2 ** 30): Flood {
  return flood(of, '{"result":{"alias":"', CHUNK, most);
}

/** A list that goes on and on with items of the right form; `field` is the list's. */
export function endlessList(of: RegExp, field: string, item: Json, most = 2 ** 30): Flood {
  const text = `${JSON.stringify(item)},`;
  const chunk = Buffer.from(text.repeat(Math.ceil(CHUNK.length / text.length)));
  return flood(of, `{"${field}":[`, chunk, most);
}

/** Accepts and never answers. */
export function silent(of?: RegExp): Misdeed {
  return { ...only(of), answer: () => {} };
}

/** The head, and then a byte of a JSON object every `everyMs`. */
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

/** Sends the caller elsewhere; 307 and 308 ask it to bring its body along. */
export function redirects(to: string, status: 301 | 302 | 307 | 308 = 307): Misdeed {
  return {
    answer: (response) => {
      response.writeHead(status, { location: to });
      response.end();
    },
  };
}

/** A page of a proxy in front of the node. */
export function html(status: 200 | 502 | 504, of?: RegExp): Misdeed {
  const page = '<html><head><title>Bad Gateway</title></head><body>nginx</body></html>';
  return fixed(status, page, of, 'text/html');
}

/** This JSON, whatever was asked. */
export function answers(value: Json, of?: RegExp, status = 200): Misdeed {
  return fixed(status, JSON.stringify(value), of);
}

/** A refusal in LND's form. */
export function refuses(message: string, of?: RegExp, code = 2, status = 500): Misdeed {
  return answers({ code, message, details: [] }, of, status);
}

/** Arrays within arrays, deeper than a parser's stack may be. */
export function nests(depth = 200_000, of?: RegExp): Misdeed {
  return fixed(200, `{"version":${'['.repeat(depth)}${']'.repeat(depth)}}`, of);
}

/** The connection ends in the middle of a body that was announced longer. */
export function breaksOff(of?: RegExp): Misdeed {
  return {
    ...only(of),
    answer: async (response) => {
      response.writeHead(200, { ...JSON_HEAD, 'content-length': 1000 });
      response.write('{"version":"0.2');
      // Cut only after the beginning has left.
      await Bun.sleep(20);
      response.socket?.destroy();
    },
  };
}

/** The connection ends before a byte of the answer. */
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
