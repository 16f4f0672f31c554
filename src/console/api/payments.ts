import type { ListPaymentsRequest, Payment } from '../../client/index.ts';
import type { Sidecar } from './sidecar.ts';

/** The most payments that the API returns at a time. */
const LARGEST_PAGE = 1000;

/** Returns a page of payments, unless told otherwise after the local cache of the sidecar was brought up to date. */
export async function newestPayments(
  { api }: Sidecar,
  request: ListPaymentsRequest,
  signal: AbortSignal,
  isSynced = false,
): Promise<{ readonly payments: readonly Payment[]; readonly next: string | null }> {
  if (!isSynced) await api.syncPayments({ signal });
  const { payments, next_index } = await api.listPayments(request, { signal });
  return { payments, next: next_index };
}

/** Returns every payment that the request names, page by page, after the cache was brought up to date. */
export async function allPayments(
  sidecar: Sidecar,
  request: Omit<ListPaymentsRequest, 'limit' | 'after'>,
  signal: AbortSignal,
): Promise<readonly Payment[]> {
  await sidecar.api.syncPayments({ signal });
  const found: Payment[] = [];
  let after: string | undefined;
  do {
    const page = await sidecar.api.listPayments(
      { ...request, limit: LARGEST_PAGE, after },
      { signal },
    );
    found.push(...page.payments);
    after = page.next_index ?? undefined;
  } while (after !== undefined);
  return found;
}
