import { isApiError } from '../../../model/errors.ts';
import { shapes } from '../words/words.ts';
import type { Helper } from './helper.ts';

/** How long the node may be without news of the chain before health says so. */
const OLD_NEWS_MS = 30 * 60_000;
const OLD_NEWS =
  'The LDK node has not read the chain for more than half an hour: check the server that tells it of the chain.';
/** How often health has the node asked. */
const ASK_AGAIN_MS = 15_000;

/**
 * Returns what health says, as sentences, of the node and of its source of the chain. The node is asked in the
 * background. Its channels and its coins are read by connections of their own, and one may stand still alone.
 */
export function standingOf(
  helper: Pick<Helper, 'problem' | 'waiting' | 'call'>,
  source: { problems(): readonly string[] },
  elapsedMs: () => number,
): () => readonly string[] {
  let told: readonly string[] = [];
  let askedAtMs = Number.NEGATIVE_INFINITY;
  const [channels, coins] = [newsOf(elapsedMs), newsOf(elapsedMs)];
  async function ask(): Promise<void> {
    try {
      const { synced } = await helper.call('info', {}, shapes().info);
      const agesMs = [channels(synced.lightning), coins(synced.onchain)];
      told = agesMs.every((ageMs) => ageMs < OLD_NEWS_MS) ? [] : [OLD_NEWS];
    } catch (error) {
      if (isApiError(error)) told = [error.message];
    }
  }
  return () => {
    if (helper.problem !== null) return [helper.problem];
    const ofSource = source.problems();
    if (ofSource.length > 0) return ofSource;
    if (helper.waiting !== null) return [helper.waiting];
    if (elapsedMs() - askedAtMs >= ASK_AGAIN_MS) {
      askedAtMs = elapsedMs();
      void ask();
    }
    return told;
  };
}

/** Returns how old a time is, by when it changed: this machine's clock may be set. */
function newsOf(elapsedMs: () => number): (time: number | null) => number {
  let known: number | null = null;
  let changedAtMs = elapsedMs();
  return (time) => {
    if (time !== known) changedAtMs = elapsedMs();
    known = time;
    return elapsedMs() - changedAtMs;
  };
}
