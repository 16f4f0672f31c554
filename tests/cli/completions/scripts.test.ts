import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { commandsOf, documentedProgram } from '../../support/program.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const commands = commandsOf(await documentedProgram());

describe('completions', () => {
  const scriptOf = async (shell: string) => (await runBinary(['completions', shell])).stdout;

  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    test(`the script for ${shell} names every command and every flag`, async () => {
      const script = await scriptOf(shell);
      for (const { path, command } of commands) {
        expect(script).toMatch(new RegExp(`['"]${path.join(' ')}['"]`));
        for (const { long } of command.options) {
          const flag = shell === 'fish' ? `-l ${long?.slice(2)} ` : long;
          expect(script).toContain(flag ?? 'a long name');
        }
      }
    });

    // Few machines have all shells. The test in bash below tries the completion itself.
    const program = shell === 'powershell' ? 'pwsh' : shell;
    test.skipIf(!Bun.which(program))(`${shell} finds no fault with the script`, async () => {
      const { exitCode, stderr } = await parsed(program, await scriptOf(shell));
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    });
  }

  const completed: readonly [readonly string[], readonly string[]][] = [
    [['cl'], ['clients']],
    [['clients', 'cre'], ['create']],
    [
      ['payments', '--filter', ''],
      ['all', 'pending', 'completed', 'failed', 'finalized', 'awaiting'],
    ],
    [
      ['payments', '--no'],
      ['--no-cookie', '--no-sync'],
    ],
    [['completions', 'z'], ['zsh']],
    [
      ['serve', '--log-format', ''],
      ['text', 'json'],
    ],
    [['pay', '--amount', ''], []],
    [
      ['clients', 'create', '--scope', 'read_'],
      ['read_info', 'read_payments'],
    ],
    [
      ['clients', 'create', '--scope', 'send,read_'],
      ['send,read_info', 'send,read_payments'],
    ],
    [['clients', 'create', '--permission', 'pay_offer,node_'], ['pay_offer,node_info']],
    [
      ['listen', '--events', 'payment.'],
      ['payment.finalized', 'payment.held', 'payment.approval_requested'],
    ],
    [['webhooks', 'list', '--client-credentials-path', '/etc/host'], ['/etc/hosts']],
  ];
  for (const [words, expected] of completed) {
    test(`bash completes "${words.join(' ')}"`, async () => {
      const script = `${await scriptOf('bash')}
COMP_WORDS=(wallet-sidecar "$@"); COMP_CWORD=$#
_wallet_sidecar
printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = Bun.spawnSync(['bash', '-c', script, 'bash', ...words]);
      expect(stderr.toString()).toBe('');
      const offered = stdout.toString().trim().split('\n').filter(Boolean);
      expect(offered).toEqual(expect.arrayContaining([...expected]));
      if (!expected.includes('/etc/hosts')) expect(offered).toHaveLength(expected.length);
    });
  }

  test.skipIf(!Bun.which('pwsh'))('PowerShell completes commands and values', async () => {
    const offered = async (line: string) => {
      const script = `${await scriptOf('powershell')}
[System.Management.Automation.CommandCompletion]::CompleteInput('${line}', ${line.length}, $null).CompletionMatches.CompletionText`;
      const { stdout } = Bun.spawnSync(['pwsh', '-NoProfile', '-Command', script]);
      return stdout.toString().trim().split(/\r?\n/);
    };
    expect(await offered('wallet-sidecar clients cre')).toEqual(['create']);
    expect(await offered('wallet-sidecar serve --log-format ')).toEqual(['text', 'json']);
  });

  test('--json holds the same script', async () => {
    const { stdout } = await runBinary(['completions', 'bash', '--json']);
    const { shell, script } = JSON.parse(stdout);
    expect({ shell, script: script.trimEnd() }).toEqual({
      shell: 'bash',
      script: await scriptOf('bash'),
    });
  });
});

/** Parses a script with a shell without running it. */
async function parsed(shell: string, script: string) {
  const folder = temporaryFolder('completions');
  try {
    const file = join(folder, 'script');
    writeFileSync(file, script);
    const command =
      shell === 'pwsh'
        ? [
            'pwsh',
            '-NoProfile',
            '-Command',
            `$null = [ScriptBlock]::Create((Get-Content -Raw '${file}'))`,
          ]
        : [shell, '-n', file];
    const { exitCode, stderr } = Bun.spawnSync(command);
    return { exitCode, stderr: stderr.toString() };
  } finally {
    removeFolder(folder);
  }
}
