import type { DeliveryAttempt, WalletSidecar } from '../../client/index.ts';

/** The most attempts that the API returns at a time. */
const LARGEST_PAGE = 100;

/** Returns every attempt to deliver one webhook, to all endpoints, oldest first, page by page. */
export async function allAttempts(
  api: WalletSidecar,
  id: string,
  signal: AbortSignal,
): Promise<readonly DeliveryAttempt[]> {
  const found: DeliveryAttempt[] = [];
  for (;;) {
    const { attempts } = await api.webhookAttempts(
      { id, after: found.at(-1)?.number, limit: LARGEST_PAGE },
      { signal },
    );
    found.push(...attempts);
    if (attempts.length < LARGEST_PAGE) return found;
  }
}
