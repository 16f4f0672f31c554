/** Resolves as soon as the condition holds. Throws if it does not hold within `seconds`. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 10): Promise<void> {
  for (let round = 0; round < seconds * 50; round++) {
    if (await holds()) return;
    await Bun.sleep(20);
  }
  throw new Error(`it did not happen within ${seconds} seconds`);
}
