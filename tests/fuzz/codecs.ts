import { isDeepStrictEqual } from 'node:util';
import { CodecError } from '../../src/codecs/codec-error.ts';
import { CODEC_TARGETS, type CodecTarget } from './codec-targets.ts';
import { diceOf } from './dice.ts';

/**
 * Time that the inputs of one reader may take together: so much for each and for each character. A reader checks at
 * most two signatures, some milliseconds; what grows faster than its input needs a thousand times that.
 */
const BUDGET = { perRunMs: 10_000, perInputMs: 20, perCharacterMs: 0.05 };

/** An input that broke a rule. */
export interface CodecFinding {
  readonly target: string;
  /** Number of the input in its run, for `diceOf`. */
  readonly round: number;
  readonly rule: string;
  readonly input: string;
}

/** What a run found, and how many inputs were read whole rather than refused. */
export interface CodecReport {
  readonly findings: readonly CodecFinding[];
  readonly perTarget: readonly {
    readonly target: string;
    readonly inputs: number;
    readonly decoded: number;
    readonly ms: number;
    readonly longest: number;
  }[];
}

/**
 * Feeds `inputs` inputs to the readers of `src/codecs` and `src/model`: each must answer, or refuse with CodecError
 * (or null where it says so), in time that grows with the input's length, and what it read must be stable when it is
 * written and read again.
 */
export function fuzzCodecs(options: {
  readonly seed: number;
  readonly inputs: number;
}): CodecReport {
  const weights = CODEC_TARGETS.reduce((sum, { weight }) => sum + weight, 0);
  const findings: CodecFinding[] = [];
  const perTarget = CODEC_TARGETS.map((target, position) => {
    const inputs = Math.ceil((options.inputs * target.weight) / weights);
    return fuzzTarget(target, { seed: options.seed + position, inputs }, findings);
  });
  return { findings, perTarget };
}

function fuzzTarget(
  target: CodecTarget,
  { seed, inputs }: { readonly seed: number; readonly inputs: number },
  findings: CodecFinding[],
): CodecReport['perTarget'][number] {
  let [decoded, ms, characters, longest] = [0, 0, 0, 0];
  for (let round = 0; round < inputs; round++) {
    const input = target.make(diceOf(seed, round));
    const startedAt = performance.now();
    const outcome = judge(target, input);
    const took = performance.now() - startedAt;
    ms += took;
    longest = Math.max(longest, took);
    characters += input.length;
    if (outcome === 'decoded') decoded++;
    else if (outcome !== 'refused') {
      findings.push({ target: target.name, round, rule: outcome, input: shown(input) });
      if (findings.length > 100) break;
    }
  }
  const budgetMs =
    BUDGET.perRunMs + BUDGET.perInputMs * inputs + BUDGET.perCharacterMs * characters;
  if (ms > budgetMs) {
    const rule = `took ${Math.round(ms)} ms for ${characters} characters, more than ${Math.round(budgetMs)} ms`;
    findings.push({ target: target.name, round: -1, rule, input: '' });
  }
  return { target: target.name, inputs, decoded, ms, longest };
}

/** `decoded`, `refused`, or the rule that was broken. */
function judge(target: CodecTarget, input: string | Uint8Array): string {
  try {
    const stable = target.read(input as never);
    if (stable === null) return 'refused';
    return isDeepStrictEqual(stable[0], stable[1])
      ? 'decoded'
      : `is not stable: ${preview(stable[0])} became ${preview(stable[1])}`;
  } catch (error) {
    if (error instanceof CodecError) return 'refused';
    return `threw ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`;
  }
}

function preview(value: unknown): string {
  return Bun.inspect(value, { depth: 2 }).slice(0, 500);
}

function shown(input: string | Uint8Array): string {
  return typeof input === 'string' ? JSON.stringify(input) : Buffer.from(input).toString('hex');
}
