/** A bar of which a share is filled. What it means must stand beside it in words. */
export function ShareBar({ percent }: { readonly percent: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="6" class="back" />
      <rect width={percent} height="6" class="in" />
    </svg>
  );
}
