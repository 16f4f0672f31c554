import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ROOT } from './pages.ts';

/** Words that make a stranger stumble, each with what to write instead (CONTRIBUTING, Words). */
const AVOIDED: readonly (readonly [RegExp, string])[] = [
  [/\bwhoever\b/i, 'name who it is'],
  [/\b(some|no)body's business\b/i, 'say what is shown, and to whom'],
  [/\/\*\* (Answers|Whoever)\b/, 'functions return; only servers answer'],
  [/^\s*(\/\*)?\*+ .*[.;,] (and )?answers (it|its|the|a|an|how|what|how many|null)\b/i, 'returns'],
  [/\bwhat (that|it) answers is\b/i, 'say what is returned'],
  [/\/\*\* What (every|all|each) [\w ]+ (shares?|has|have|is)\.? \*\//, 'say what it is'],
];

const files = await Array.fromAsync(new Glob('src/**/*.ts').scan({ cwd: ROOT }));

test('comments and messages avoid the worst words', async () => {
  const found: string[] = [];
  for (const path of files) {
    const lines = (await Bun.file(join(ROOT, path)).text()).split('\n');
    for (const [at, line] of lines.entries()) {
      for (const [pattern, advice] of AVOIDED) {
        if (pattern.test(line)) found.push(`${path}:${at + 1}: ${advice}: ${line.trim()}`);
      }
    }
  }
  expect(found).toEqual([]);
});
