import { connectLnd } from './app/connect-lnd.ts';
import { serve } from './app/serve.ts';
import { buildProgram, runProgram } from './cli/index.ts';
import { VERSION } from './version.ts';

const io = {
  env: process.env,
  cwd: process.cwd(),
  stdout: (line: string) => console.log(line),
  stderr: (line: string) => console.error(line),
};
const exitCode = await runProgram(
  buildProgram({ ...io, version: VERSION, serve, connectLnd }),
  process.argv,
  io,
);
if (exitCode !== 0) process.exit(exitCode);
