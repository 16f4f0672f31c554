/** 0 in `npm test`; in `npm run test:long` 1, or what TEST_LONG says. */
const factor = Number(process.env.TEST_LONG ?? 0);
if (!Number.isFinite(factor) || factor < 0) {
  throw new Error(
    'TEST_LONG must be a number, such as 1, or 25 for a run that is 25 times as long.',
  );
}

/** Whether this is the long run. */
export const IS_LONG = factor > 0;

/**
 * Returns how many rounds a test has that draws what it tries: `few` in `npm test`, which must be done in minutes,
 * `many` in `npm run test:long`, and TEST_LONG times as many where it is set. Both runs test the same rules.
 */
export function rounds(few: number, many: number): number {
  return IS_LONG ? Math.ceil(many * factor) : few;
}
