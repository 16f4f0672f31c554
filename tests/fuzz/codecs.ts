import { isDeepStrictEqual } from 'node:util';
import { CodecError } from '../../src/codecs/codec-error.ts';
import type { CodecTarget } from './codec-target.ts';
import { CODEC_TARGETS } from './codec-targets.ts';
import { diceOf } from './dice.ts';

/**
 * Time that the inputs of one reader may take together: so much for each and for each character. A reader checks at
 * most two signatures, some milliseconds; what grows faster than its input needs a thousand times that.
 */
const BUDGET = { perRunMs: 10_000, perInputMs: 3, perCharacterMs: 0.01 };

/**
 * Lengths that time is compared at, the longer being a whole request body. Four times the length may take eight times
 * as long, noise included; what grows with the square takes sixteen times.
 */
const LENGTHS = { short: 64 * 1024, long: 256 * 1024, mostFold: 8, leastMs: 400 };
/** What long inputs are made of: what readers peel off, look for or go back from. */
const PIECES = [
  'lightning:',
  'lightning://',
  ' ',
  '+',
  '1',
  'q',
  '=',
  '&a=b',
  '%41',
  'a.',
  '@',
  '0',
  '\ud800',
  'A',
];

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
  for (const target of CODEC_TARGETS) findGrowth(target, options.seed, findings);
  return { findings, perTarget };
}

/** Finds inputs whose reading takes time that grows faster than they do. */
function findGrowth(target: CodecTarget, seed: number, findings: CodecFinding[]): void {
  const start = target.make(diceOf(seed, 0));
  if (typeof start !== 'string') return;
  for (const piece of PIECES) {
    for (const prefix of ['', start.slice(0, 6)]) {
      const input = (length: number) => prefix + piece.repeat(length / piece.length);
      const long = leastMs(target, input(LENGTHS.long));
      if (long < LENGTHS.leastMs) continue;
      const short = leastMs(target, input(LENGTHS.short));
      if (long < short * LENGTHS.mostFold) continue;
      const rule = `takes ${Math.round(short)} ms for ${LENGTHS.short} characters and ${Math.round(long)} ms for ${LENGTHS.long}`;
      findings.push({ target: target.name, round: -1, rule, input: shown(input(100)) });
    }
  }
}

/** The quickest of three readings: what else the machine does only adds. */
function leastMs(target: CodecTarget, input: string): number {
  const times = [0, 1, 2].map(() => {
    const startedAt = performance.now();
    judge(target, input);
    return performance.now() - startedAt;
  });
  return Math.min(...times);
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
