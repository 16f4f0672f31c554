import { CODES, refusalIn } from './refusal.ts';

const MOST_CHOICES = 3;
/** What Core Lightning says of a coin that something else has reserved or spent since it was chosen. */
const TAKEN = /^(?:UTXO \S+ already reserved|Already spent UTXO \S+)$/;

/**
 * Runs `make`, which chooses coins and has the node prepare a transaction of them, and runs it again where another
 * program has reserved or spent one of them in between. Nothing was prepared then.
 */
export async function choosingAgain<T>(make: () => Promise<T>): Promise<T> {
  for (let choices = 1; ; choices += 1) {
    try {
      return await make();
    } catch (error) {
      if (choices === MOST_CHOICES || !isCoinTaken(error)) throw error;
    }
  }
}

function isCoinTaken(error: unknown): boolean {
  const refusal = refusalIn(error);
  return refusal?.code === CODES.invalidParameters && TAKEN.test(refusal.text);
}
