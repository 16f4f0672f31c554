/** What a reader of a guide does, or sees, next. */
export type Step =
  | {
      readonly does: 'run';
      readonly terminal: number;
      /** The block as it stands. */
      readonly script: string;
      /** The exit code of some of its commands, where the guide says that they fail. */
      readonly exitCode: number;
    }
  | { readonly does: 'see'; readonly terminal: number; readonly text: string }
  | { readonly does: 'interrupt'; readonly terminal: number };

const PART =
  /^```sh\n(?<script>[\s\S]*?)^```$|\*\*Terminal (?<named>\d)|\bin terminal (?<back>\d)|\b(?:Terminal (?<shown>\d)|It) prints `(?<text>[^`]+)`(?: with exit code (?<code>\d))?|\bPress Ctrl-C in terminal (?<interrupted>\d)/gm;

/**
 * Returns the steps of a guide. A shell block is run in the terminal that the words before it name last ("**Terminal
 * 1", "in terminal 1"). "It prints `x`" is seen in that terminal, "Terminal 2 prints `x`" in the other one; "with exit
 * code 1" is about the block before. Throws for a block that has no terminal.
 */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  let terminal: number | null = null;
  for (const { groups = {} } of markdown.matchAll(PART)) {
    const { script, named, back, shown, text, code, interrupted } = groups;
    if (named ?? back) terminal = Number(named ?? back);
    if (interrupted) terminal = Number(interrupted);
    if (terminal === null) throw new Error('No terminal is named before the first block.');
    if (interrupted) steps.push({ does: 'interrupt', terminal });
    if (script) steps.push({ does: 'run', terminal, script, exitCode: 0 });
    if (text === undefined) continue;
    const last = steps.findLastIndex(({ does }) => does === 'run');
    const run = steps[last];
    if (code && run?.does === 'run') steps[last] = { ...run, exitCode: Number(code) };
    steps.push({ does: 'see', terminal: Number(shown ?? terminal), text });
  }
  return steps;
}

/** Returns the codes of the API's errors that a guide announces: "error 109". */
export function announcedErrors(markdown: string): number[] {
  return [...markdown.matchAll(/\berror (\d+)/g)].map(([, code]) => Number(code));
}
