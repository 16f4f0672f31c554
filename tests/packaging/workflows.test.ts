import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { YAML } from 'bun';
import packageJson from '../../package.json';
import { SECRET_KEY } from '../../packaging/release-key.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const FOLDER = '.github/workflows';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}
interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = readdirSync(join(ROOT, FOLDER)).map((name) => {
  const text = readFileSync(join(ROOT, FOLDER, name), 'utf8');
  return { name, text, workflow: YAML.parse(text) as Workflow };
});
const release = files.find(({ name }) => name === 'release.yml')?.workflow;

describe.each(files)('$name', ({ text, workflow }) => {
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('uses actions by their commit alone, with the version beside it', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) {
      expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(text).toMatch(new RegExp(`uses: ${action} # v\\d+\\.\\d+\\.\\d+\\n`));
    }
  });

  test('may only read, has a time limit, and runs nothing of strangers with secrets', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const job of jobs) expect(job['timeout-minutes']).toBeGreaterThan(0);
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    // What is put into a command's text by the runner can be a command itself.
    for (const { run: command = '' } of steps) expect(command).not.toContain('${{');
  });

  test('runs scripts that are there', () => {
    for (const { run: command = '' } of steps) {
      for (const [, script = ''] of command.matchAll(/npm run (\w+)/g))
        expect(Object.keys(packageJson.scripts)).toContain(script);
      for (const [, file = ''] of command.matchAll(/\bbash (\S+)/g))
        expect([file, existsSync(join(ROOT, file))]).toEqual([file, true]);
    }
  });
});

test('the secret key is in the environment of the one step that signs', () => {
  const named = files.flatMap(({ workflow }) =>
    Object.values(workflow.jobs).flatMap(({ steps }) =>
      steps.filter((step) => JSON.stringify(step).includes(`secrets.${SECRET_KEY}`)),
    ),
  );
  expect(named.map(({ run: command }) => command)).toEqual(['npm run build -- --sign']);
  const secrets = files.flatMap(({ text }) => text.match(/\bsecrets\.\w+/g) ?? []);
  expect(secrets).toEqual([`secrets.${SECRET_KEY}`]);
});

test('a release is published by a tag, once every machine has tried it, by the one job that may write', () => {
  expect(release?.on).toEqual({ push: { tags: ['v*'] } });
  const { publish, ...others } = release?.jobs ?? {};
  expect(publish?.needs).toEqual(Object.keys(others));
  const writers = Object.entries(release?.jobs ?? {}).filter(([, job]) => job.permissions);
  expect(writers.map(([name]) => name)).toEqual(['publish']);
});

test.skipIf(isMissing('actionlint'))('actionlint finds nothing wrong', async () => {
  const paths = files.map(({ name }) => join(FOLDER, name));
  expect(await run(['actionlint', ...paths])).toEqual({ exitCode: 0, output: '' });
});
