import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { GUIDES, pageText } from '../support/pages.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { expectWorks } from './follow.ts';
import { forNode, GUIDE_NODES, needsNode, stepsOf } from './guide.ts';
import { whyNoOtherUser } from './other-user.ts';

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
    for (const node of GUIDE_NODES) {
      const lines = forNode(text, node).split('\n').length;
      expect([guide, node, lines < SCREEN_LINES]).toEqual([guide, node, true]);
    }
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

test('a block that begins with the name of a node is for readers with that node', () => {
  const block = (node: string) => `**With ${node}:**\n\n\`\`\`sh\n${node}\n\`\`\`\n\n`;
  const guide = `Set it.\n\n${block('LND')}${block('Core Lightning')}It prints \`x\`. Pay it from another wallet.\n`;
  expect(forNode(guide, 'LND')).toBe(guide.replace(block('Core Lightning'), ''));
  expect(forNode(guide, 'Core Lightning')).toBe(guide.replace(block('LND'), ''));
  expect([needsNode(guide), needsNode('**With LND** it works.')]).toEqual([true, false]);
  const steps = stepsOf(`**Terminal 1:**\n\n${forNode(guide, 'LND')}`);
  expect(steps).toEqual([
    { does: 'run', terminal: 1, script: 'LND\n', exitCode: 0 },
    { does: 'see', terminal: 1, text: 'x' },
    { does: 'pay', terminal: 1 },
  ]);
});

describe('every command of a guide works, and prints what the guide says', () => {
  // Those that need a real node are followed by tests/interop/guides.test.ts.
  for (const guide of GUIDES.filter((one) => !needsNode(pageText(one)))) {
    const text = pageText(guide);
    const isSkipped =
      (text.includes('python3') && !hasPython) || (makesUser(text) && noOtherUser !== null);
    test.skipIf(isSkipped)(guide, async () => {
      await expectWorks(text, { needsUser: makesUser(text) });
    });
  }
});
