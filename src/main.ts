import { CHECK_COMMAND, checkDatabase } from './app/data-care.ts';
import { migrateToPostgres } from './app/migrate.ts';
import { serve } from './app/serve.ts';
import { buildProgram, runProgram } from './cli/program.ts';
import { stderrWriter, stdoutWriter } from './cli/terminal/output.ts';
import { openTerminal } from './cli/terminal/terminal.ts';
import { REMOTE_NODES } from './nodes/kinds.ts';
import { VERSION_LINE } from './version.ts';

if (process.argv[2] === CHECK_COMMAND) {
  checkDatabase(process.argv[3] ?? '');
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
const exitCode = await runProgram(
  buildProgram(
    {
      ...io,
      version: VERSION_LINE,
      serve,
      migrate: migrateToPostgres,
      connectKinds: REMOTE_NODES,
    },
    process.argv.slice(2),
  ),
  process.argv,
  io,
);
if (exitCode !== 0) process.exit(exitCode);
