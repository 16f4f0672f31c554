import type { Watch } from './ports.ts';

/** Returns what a watch is stored under, beside its wallet and kind. */
export function watchKey(watch: Watch): string {
  switch (watch.kind) {
    case 'payment':
    case 'held':
      return watch.index;
    case 'offer':
      return watch.offerId;
    case 'address':
      return watch.address;
  }
}
