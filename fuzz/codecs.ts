import { isDeepStrictEqual } from 'node:util';
import { CodecError } from '../src/codecs/codec-error.ts';
import type { CodecTarget } from './codec-target.ts';
import { CODEC_TARGETS } from './codec-targets.ts';
import { diceOf } from './dice.ts';

/**
 * The time that all inputs of one reader may take: a part for each input and a part for each character. A reader checks
 * at most two signatures, which takes some milliseconds. One whose time is not linear takes a thousand times as long.
 */
const BUDGET = { perRunMs: 10_000, perInputMs: 3, perCharacterMs: 0.01 };

/**
 * The lengths at which times are compared; the longer one is a whole request body. Four times the length may take eight
 * times as long, to allow for noise. Quadratic growth takes sixteen times as long.
 */
const LENGTHS = { short: 64 * 1024, long: 256 * 1024, mostFold: 8, leastMs: 400 };
/** The parts that long inputs repeat: prefixes, separators and other parts that readers remove or search for. */
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

/** The findings of a run, and how many inputs were valid. */
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
 * Gives `inputs` inputs to the readers of `src/codecs` and `src/model`. Each must return a value or throw CodecError
 * (or return null where it is declared so), in time that is linear in the input's length. A value must stay the same
 * when it is written and read again.
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

/** Finds inputs whose reading time grows faster than their length. */
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

/** Returns the shortest time of three readings, since other work of the machine only adds time. */
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

/** Returns `decoded`, `refused`, or the broken rule. */
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
