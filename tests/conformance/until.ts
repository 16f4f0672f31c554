/** Resolves as soon as it holds; throws when it does not within ten seconds, or as many as are given. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 10): Promise<void> {
  for (let round = 0; round < seconds * 50; round++) {
    if (await holds()) return;
    await Bun.sleep(20);
  }
  throw new Error(`it did not happen within ${seconds} seconds`);
}
