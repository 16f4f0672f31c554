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
  | { readonly does: 'interrupt'; readonly terminal: number }
  /** Somebody outside pays the invoice that stands in the terminal. */
  | { readonly does: 'pay'; readonly terminal: number };

/** The nodes for which a guide can have blocks of their own. */
export const GUIDE_NODES = ['LND', 'Core Lightning'] as const;
export type GuideNode = (typeof GUIDE_NODES)[number];

const OF_A_NODE = /^\*\*With (LND|Core Lightning)\b.*\n\n```sh\n[\s\S]*?^```\n\n/gm;

/** Returns a guide as somebody with this node reads it: without the blocks that begin "**With" another one. */
export function forNode(markdown: string, node: GuideNode): string {
  return markdown.replace(OF_A_NODE, (block, of: string) => (of === node ? block : ''));
}

/** Whether a guide has blocks for real nodes, so that it cannot be followed without one. */
export function needsNode(markdown: string): boolean {
  return GUIDE_NODES.some((node) => forNode(markdown, node) !== markdown);
}

const PART =
  /^```sh\n(?<script>[\s\S]*?)^```$|\*\*Terminal (?<named>\d)|\bin terminal (?<back>\d)|\b(?:Terminal (?<shown>\d)|It) prints `(?<text>[^`]+)`(?: with exit code (?<code>\d))?|\bPress Ctrl-C in terminal (?<interrupted>\d)|\b(?<paid>Pay it from another wallet)/gm;

/**
 * Returns the steps of a guide. A shell block is run in the terminal that the words before it name last ("**Terminal
 * 1", "in terminal 1"). "It prints `x`" is seen in that terminal, "Terminal 2 prints `x`" in the other one; "with exit
 * code 1" is about the block before. "Pay it from another wallet" is about the invoice in that terminal. Throws for a block that has no terminal.
 */
export function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  let terminal: number | null = null;
  for (const { groups = {} } of markdown.matchAll(PART)) {
    const { script, named, back, shown, text, code, interrupted, paid } = groups;
    if (named ?? back) terminal = Number(named ?? back);
    if (interrupted) terminal = Number(interrupted);
    if (terminal === null) throw new Error('No terminal is named before the first block.');
    if (interrupted) steps.push({ does: 'interrupt', terminal });
    if (paid) steps.push({ does: 'pay', terminal });
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
