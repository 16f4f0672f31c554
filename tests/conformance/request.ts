import { type Answer, type CallOptions, send } from '../support/requests.ts';
import { routeAnswered, routeOf } from './called-routes.ts';

/** Calls the sidecar and holds a good answer against the schema that the documentation is made from. */
export async function request(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions,
): Promise<Answer> {
  const answer = await send(baseUrl, method, path, options);
  checkShape(method, path, answer.status, answer.body);
  return answer;
}

/** Checks a successful answer against the schema of the documentation. */
function checkShape(method: string, path: string, status: number, body: unknown): void {
  const route = routeOf(method, path);
  if (!route || (status !== 200 && status !== 202)) return;
  // The rows of a table are held by the tests of books.
  if (typeof body === 'string') return;
  route.response.parse(body);
  routeAnswered(method, path);
}
