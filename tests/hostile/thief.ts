import { type ServerCertificate, selfSignedCertificate } from './certificates.ts';
import { bodyOf, HttpsServer } from './https-server.ts';

/** A server of another that only listens what comes to it. */
export interface Thief {
  readonly url: string;
  /** PEM. */
  readonly cert: string;
  /** Headers and body of every request, as text. */
  readonly heard: string[];
  stop(): Promise<void>;
}

/** Starts it; with a certificate of the node it takes the place of, or its own. */
export async function startThief(certificate?: ServerCertificate): Promise<Thief> {
  const heard: string[] = [];
  const server = new HttpsServer(
    certificate ?? selfSignedCertificate('thief'),
    async (request, response) => {
      const { method, url, rawHeaders } = request;
      const body = await bodyOf(request);
      heard.push([`${method} ${url}`, ...rawHeaders, body].join('\n'));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{}');
    },
  );
  await server.start();
  return { url: server.url, cert: server.certificate.cert, heard, stop: () => server.stop() };
}
