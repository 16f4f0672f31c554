/** Lets everything run that waits for its turn, so that long work holds nothing else up for longer than one piece. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
