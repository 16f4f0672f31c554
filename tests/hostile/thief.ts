import { type ServerCertificate, selfSignedCertificate } from './certificates.ts';
import { bodyOf, HttpsServer } from './https-server.ts';

/** A server that is not the node and records all that is sent to it. */
export interface Thief {
  readonly url: string;
  /** The server's certificate, PEM. */
  readonly cert: string;
  /** Headers and body of every request, as text. */
  readonly heard: string[];
  stop(): Promise<void>;
}

/** Starts the server, with the certificate of the node whose place it takes, or with one of its own. */
export async function startThief(certificate?: ServerCertificate): Promise<Thief> {
  const heard: string[] = [];
  const server = new HttpsServer(
    certificate ?? selfSignedCertificate({ name: 'thief' }),
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
