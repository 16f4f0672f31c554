import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { GUIDES, pageText, ROOT } from '../support/pages.ts';
import { freePorts } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { announcedErrors, type Step, stepsOf } from './guide.ts';
import { otherUser, whyNoOtherUser } from './other-user.ts';
import { openTerminal, type Terminal } from './terminal.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A guide is read beside the terminals, without scrolling much. */
const SCREEN_LINES = 70;

const hasPython =
  Bun.which('python3') !== null &&
  Bun.spawnSync(['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).exitCode ===
    0;
if (!hasPython) console.warn('SKIPPED: the guides in Python, since python3 is not Python 3.10.');
const noOtherUser = whyNoOtherUser();
if (noOtherUser !== null) console.warn(`SKIPPED: guides that make a user, since ${noOtherUser}.`);
const makesUser = (text: string) => text.includes('sudo useradd');

test('there are guides, each on one screen, and each says in which terminal a command is typed', () => {
  expect(GUIDES.length).toBeGreaterThan(4);
  for (const guide of GUIDES) {
    const text = pageText(guide);
    expect([guide, text.split('\n').length < SCREEN_LINES]).toEqual([guide, true]);
    expect(stepsOf(text).filter(({ does }) => does === 'run').length).toBeGreaterThan(1);
    const blocks = [...text.matchAll(/^ *```(.*)\n[\s\S]*?^ *```$/gm)].map(
      ([, language]) => language,
    );
    expect([guide, ...new Set(blocks)]).toEqual([guide, 'sh']);
  }
});

test('the steps of a guide are its blocks and what its words say of them', () => {
  const guide =
    '**Terminal 1, a server:**\n\n```sh\na\n```\n\nIt prints `b`.\n\n**Terminal 2:**\n\n```sh\nc\n```\n\nIt prints `d` with exit code 1. Terminal 1 prints `e`. Press Ctrl-C in terminal 1. It prints `f`.\n\nAgain, in terminal 2:\n\n```sh\ng\n```\n';
  expect(stepsOf(guide)).toEqual([
    { does: 'run', terminal: 1, script: 'a\n', exitCode: 0 },
    { does: 'see', terminal: 1, text: 'b' },
    { does: 'run', terminal: 2, script: 'c\n', exitCode: 1 },
    { does: 'see', terminal: 2, text: 'd' },
    { does: 'see', terminal: 1, text: 'e' },
    { does: 'interrupt', terminal: 1 },
    { does: 'see', terminal: 1, text: 'f' },
    { does: 'run', terminal: 2, script: 'g\n', exitCode: 0 },
  ]);
  expect(() => stepsOf('```sh\na\n```\n')).toThrow();
});

describe('every command of a guide works, and prints what the guide says', () => {
  for (const guide of GUIDES) {
    const text = pageText(guide);
    const isSkipped =
      (text.includes('python3') && !hasPython) || (makesUser(text) && noOtherUser !== null);
    test.skipIf(isSkipped)(guide, async () => {
      const outputs = await follow(stepsOf(text), makesUser(text));
      const told = outputs.flatMap((output) => [...output.matchAll(/^\{"code":(\d+),"msg":.*$/gm)]);
      const allowed = announcedErrors(text);
      expect(told.filter(([, code]) => !allowed.includes(Number(code))).map(([it]) => it)).toEqual(
        [],
      );
      expect(outputs.filter((output) => /Traceback|command not found/.test(output))).toEqual([]);
    });
  }
});

/** Does all steps, in a folder like a fresh checkout after the build. Resolves to what each terminal printed. */
async function follow(steps: readonly Step[], needsUser: boolean): Promise<string[]> {
  const checkout = temporaryFolder('guide');
  const user = needsUser ? otherUser(checkout) : null;
  for (const name of ['dist', 'examples', 'clients'])
    symlinkSync(join(ROOT, name), join(checkout, name));
  const [sidecarPort, hookPort] = freePorts(2);
  const address = `127.0.0.1:${sidecarPort}`;
  const env = {
    ...process.env,
    ...(user && { PATH: `${user.path}:${process.env.PATH}` }),
    HOME: checkout,
    XDG_DATA_HOME: join(checkout, 'share'),
    SERVICE_LISTEN_ADDR: address,
    SIDECAR_URL: `http://${address}`,
    WEBHOOK_PORT: String(hookPort),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const terminals = new Map<number, Terminal>();
  const terminal = (number: number) => {
    const found = terminals.get(number) ?? openTerminal({ cwd: checkout, env });
    terminals.set(number, found);
    return found;
  };
  try {
    for (const [nth, step] of steps.entries()) {
      const here = terminal(step.terminal);
      if (step.does === 'interrupt') here.interrupt();
      else if (step.does === 'see') await here.sees(step.text);
      else {
        const script = (user?.inScript(step.script) ?? step.script)
          .replaceAll('127.0.0.1:5393', address)
          .replaceAll('127.0.0.1:8080', `127.0.0.1:${hookPort}`);
        await here.run(script);
        const next = steps[nth + 1];
        if (next?.does === 'see' && next.terminal === step.terminal) await here.sees(next.text);
        // What runs until it is stopped has not ended, and has printed what the guide says.
        if (runsOn(step.script)) continue;
        const failed = await here.ended();
        const expected = step.exitCode === 0 ? [] : [step.exitCode];
        expect([step.script, ...new Set(failed)]).toEqual([step.script, ...expected]);
      }
    }
    return [...terminals.values()].map((one) => one.output());
  } finally {
    for (const one of terminals.values()) await one.close();
    user?.remove();
    removeFolder(checkout);
  }
}

/** Whether the last command of a block is a server that runs until it is stopped. */
function runsOn(script: string): boolean {
  const last = script.trimEnd().split('\n').at(-1) ?? '';
  return (
    /^(?:\.\/dist\/wallet-sidecar (?:dev|serve)|python3 examples\/python\/(?:bot|orders)\.py)\b/.test(
      last,
    ) && !last.includes(' & ')
  );
}
