import { request } from 'node:http';

/**
 * Resolves to the status of a request that `fetch` cannot send: with another Host header, or with a path that is not
 * normalised.
 */
export function rawStatus(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
