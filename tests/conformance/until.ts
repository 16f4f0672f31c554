/** Resolves as soon as it holds; throws when it does not within ten seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await holds()) return;
    await Bun.sleep(20);
  }
  throw new Error('it did not happen within 10 seconds');
}
