import { CHECK_COMMAND } from './app/check-command.ts';
import { buildProgram, runProgram, runsServer } from './cli/program.ts';
import { stderrWriter, stdoutWriter } from './cli/terminal/output.ts';
import { openTerminal } from './cli/terminal/terminal.ts';
import { VERSION_LINE } from './version.ts';

// Each way to run this program loads its own part of it, because loading takes most of a start.
const words = process.argv.slice(2);
if (words[0] === CHECK_COMMAND) {
  const { checkDatabase } = await import('./app/data-care.ts');
  checkDatabase(words[1] ?? '');
  process.exit(0);
}
const stderr = stderrWriter();
const io = {
  env: process.env,
  cwd: process.cwd(),
  stdout: stdoutWriter(stderr),
  stderr,
  terminal: openTerminal(),
};
const program = buildProgram({
  ...io,
  version: VERSION_LINE,
  serve: async (mode, flags) => (await import('./app/serve.ts')).serve(mode, flags),
});
if (!runsServer(words)) {
  const { addCommands } = await import('./cli/commands/index.ts');
  await addCommands(program, words, {
    ...io,
    backup: async (dir, flags) => (await import('./app/backup/backup.ts')).backup(dir, flags),
    restore: async (dir, flags) => (await import('./app/backup/restore.ts')).restore(dir, flags),
    migrate: async (flags) => (await import('./app/migrate.ts')).migrateToPostgres(flags),
    recoverLdk: async (...given) => (await import('./app/recover-ldk.ts')).recoverLdk(...given),
    connectKinds: async () => (await import('./nodes/kinds.ts')).remoteNodes(),
  });
}
const exitCode = await runProgram(program, process.argv, io);
if (exitCode !== 0) process.exit(exitCode);
