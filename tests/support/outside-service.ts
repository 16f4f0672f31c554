import { createGuardedFetch, type FetchJson } from '../../src/net/guarded-fetch.ts';

/** A self-signed certificate for shop.example, dns.example and 127.0.0.1, until 2126. Its key protects nothing. */
export const TEST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUAh0XRYMQqe1UbqHfAyEksp1aXtUwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjExNDQ5NDFaGA8yMTI2MTAyODE0NDk0
MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNm4
SCI/zNswyDapwVXgQeqLkcWMx5Vs/uu3SvWEs16RIt6bhNI3DERKX/xgjfApL+j7
R1v0gWBSaTIh/IbZauujfzB9MB0GA1UdDgQWBBTb1D+L0Sv59kvErGYFOvlPOY8r
BDAfBgNVHSMEGDAWgBTb1D+L0Sv59kvErGYFOvlPOY8rBDAPBgNVHRMBAf8EBTAD
AQH/MCoGA1UdEQQjMCGCDHNob3AuZXhhbXBsZYILZG5zLmV4YW1wbGWHBH8AAAEw
CgYIKoZIzj0EAwIDSAAwRQIgMWF896l9kI+aLAVD9lqb+62/UgvA9MwYvZTukrhe
lRICIQC+ecVpTRga5HZ13ANx5Y9/LWNHbag+LxBXnUq5pq97SQ==
-----END CERTIFICATE-----`;
/** The key of {@link TEST_CERTIFICATE}. */
export const TEST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBK+z//Wu/aFtug7v
rKCEIwNLZ7b2XlntCnZnXKs+EVGhRANCAATZuEgiP8zbMMg2qcFV4EHqi5HFjMeV
bP7rt0r1hLNekSLem4TSNwxESl/8YI3wKS/o+0db9IFgUmkyIfyG2Wrr
-----END PRIVATE KEY-----`;

/** An HTTPS server on this machine that acts as an outside service. */
export interface OutsideService {
  /** `https://shop.example:<port>`. */
  readonly origin: string;
  /** The product's fetch. It resolves every name to this machine and trusts the test's certificate. */
  readonly fetchJson: FetchJson;
  readonly port: number;
  close(): Promise<void>;
}

/** Opens the service on a free port. */
export function openOutsideService(
  answer: (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>,
  timeoutMs = 30_000,
): OutsideService {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: TEST_CERTIFICATE, key: TEST_KEY },
    fetch: answer,
  });
  return {
    origin: `https://shop.example:${server.port}`,
    port: server.port ?? 0,
    fetchJson: createGuardedFetch({
      allowPrivateNetwork: true,
      allowLoopback: false,
      resolve: async () => ['127.0.0.1'],
      ca: TEST_CERTIFICATE,
      timeoutMs,
    }),
    close: () => server.stop(true),
  };
}

/** Opens an HTTPS server that closes each connection after one answer, without having announced it. */
export function openClosingService(answer: (request: Request) => Response): {
  port: number;
  stop(force: boolean): void;
} {
  return Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: TEST_CERTIFICATE, key: TEST_KEY },
    socket: {
      async data(socket, head) {
        const [, path = ''] = head.toString().split(' ');
        const body = await answer(new Request(new URL(path, 'https://127.0.0.1').href)).bytes();
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/dns-message\r\ncontent-length: ${body.length}\r\n\r\n`,
        );
        socket.write(body);
        socket.end();
      },
    },
  });
}
