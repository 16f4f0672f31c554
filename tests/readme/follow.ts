import { expect } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { ROOT } from '../support/pages.ts';
import { freePorts } from '../support/ports.ts';
import { announcedErrors, type Step, stepsOf } from './guide.ts';
import { otherUser } from './other-user.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** What is around the reader of a guide: what the guide tells to export, and somebody outside who pays. */
export interface Around {
  readonly env?: Readonly<Record<string, string>>;
  readonly pay?: (invoice: string) => Promise<unknown>;
  /** Whether the guide makes a user of the operating system. */
  readonly needsUser?: boolean;
}

/** Follows a guide, and expects that its commands work, and print what it says and no other errors. */
export async function expectWorks(text: string, around: Around = {}): Promise<void> {
  const outputs = await follow(stepsOf(text), around);
  const told = outputs.flatMap((output) => [...output.matchAll(/^\{"code":(\d+),"msg":.*$/gm)]);
  const allowed = announcedErrors(text);
  expect(told.filter(([, code]) => !allowed.includes(Number(code))).map(([it]) => it)).toEqual([]);
  expect(outputs.filter((output) => /Traceback|command not found/.test(output))).toEqual([]);
}

/** Does all steps, in a folder like a fresh checkout after the build. Resolves to what each terminal printed. */
async function follow(
  steps: readonly Step[],
  { env: given, pay, needsUser = false }: Around,
): Promise<string[]> {
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
    ...given,
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
      else if (step.does === 'pay') await pay?.(lastInvoice(here.output()));
      else {
        const script = (user?.inScript(step.script) ?? step.script)
          .replaceAll('127.0.0.1:5393', address)
          .replaceAll('127.0.0.1:8080', `127.0.0.1:${hookPort}`);
        await here.run(script);
        const next = steps[nth + 1];
        if (next?.does === 'see' && next.terminal === step.terminal) await here.sees(next.text);
        // What runs until it is stopped has not ended, and has printed what the guide says.
        if (runsOn(step.script)) continue;
        const failed = [...new Set(await here.ended())];
        const expected = step.exitCode === 0 ? [] : [step.exitCode];
        const printed = Bun.deepEquals(failed, expected) ? '' : here.output();
        expect([step.script, printed, ...failed]).toEqual([step.script, '', ...expected]);
      }
    }
    return [...terminals.values()].map((one) => one.output());
  } finally {
    for (const one of terminals.values()) await one.close();
    user?.remove();
    removeFolder(checkout);
  }
}

function lastInvoice(output: string): string {
  const invoice = output.match(/\blnbc\w{100,}/g)?.at(-1);
  if (invoice === undefined) throw new Error(`No invoice stands in:\n${output}`);
  return invoice;
}

/** Whether the last command of a block runs until it is stopped, or until somebody pays. */
function runsOn(script: string): boolean {
  const last = script.trimEnd().split('\n').at(-1) ?? '';
  return (
    /^(?:\.\/dist\/wallet-sidecar (?:dev|serve|invoice .* --wait)|python3 examples\/python\/(?:bot|orders)\.py)\b/.test(
      last,
    ) && !last.includes(' & ')
  );
}
