import { send } from '../support/requests.ts';

/** The two halves of a session, as a browser holds them. */
export interface BrowserSession {
  /** The Cookie header. */
  readonly cookie: string;
  /** The Console-Key header. */
  readonly key: string;
}

/** The headers of a request by the console's own page. */
export function pageHeaders(baseUrl: string, session?: BrowserSession): Record<string, string> {
  return {
    origin: baseUrl,
    'sec-fetch-site': 'same-origin',
    ...(session ? { cookie: session.cookie, 'console-key': session.key } : {}),
  };
}

/** Signs in as the page does; throws unless it works. */
export async function signIn(
  baseUrl: string,
  given: { readonly link: string } | { readonly credentials: string },
): Promise<BrowserSession> {
  const { status, headers, body } = await send(baseUrl, 'POST', '/v2/console/session', {
    body: given,
    headers: pageHeaders(baseUrl),
  });
  if (status !== 200) throw new Error(`The sign-in failed: ${JSON.stringify(body)}`);
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  return { cookie, key: body.key as string };
}
