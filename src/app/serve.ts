import { join } from 'node:path';
import { type Config, loadConfig } from '../config/config.ts';
import { isOpenToAll } from '../config/exposure.ts';
import { ConfigError, type Flags } from '../config/sources.ts';
import { fileUnusable, isFileFailure } from '../lib/files/file-problem.ts';
import { openLog } from '../lib/log.ts';
import { type Ending, runSteps, undoAll } from '../lib/steps.ts';
import { ApiError } from '../model/errors.ts';
import { VERSION } from '../version.ts';
import { fundDevWallet, welcomeJson, welcomeLines } from './dev-wallet.ts';
import { defaultKind } from './open-nodes.ts';
import { requireRealNode } from './open-store.ts';
import { type Given, START } from './start.ts';
import { onStopSignal } from './stop.ts';
import { tellSystemd } from './tell-systemd.ts';

/**
 * Runs the server until the process receives a stop signal. Throws {@link ConfigError}, ListenFailed, FileUnusable,
 * MarkerUnreadable or StoreUnusable; the message names the flag or the path. With the flag `json` the standard output
 * has one line for scripts, and the log goes to the standard error.
 */
export async function serve(mode: 'serve' | 'dev', flags: Flags): Promise<void> {
  // Files that this process creates must be readable by its user alone.
  process.umask(0o077);
  const given = configOf(mode, flags);
  const json = flags.json === true;
  const log = openLog({
    level: given.logLevel,
    format: given.logFormat,
    write: json ? (line) => console.error(line) : (line) => console.log(line),
  });
  const stopping = new AbortController();
  const made: Ending[] = [];
  try {
    await start({ mode, given, log, stopping, trial: { isReady: mode !== 'dev' } }, made, json);
  } catch (error) {
    // The process was told to stop during the start. Stopping closes parts that the start needs, so this error is no
    // failure.
    if (stopping.signal.aborted) return;
    await undoAll(made, log);
    const cause = error instanceof ApiError ? error.cause : error;
    if (given.dataDir === ':memory:' || !isFileFailure(cause)) throw error;
    throw fileUnusable(given.dataDir, cause, 'use another --data-dir');
  }
}

async function start(given: Given, made: Ending[], json: boolean): Promise<void> {
  const { log, trial } = given;
  for (const note of given.given.notes) log.info(note);
  for (const warning of given.given.warnings) log.warn(warning);
  // A defect in one request must not stop the payments and webhooks of all others.
  process.on('unhandledRejection', (error) => log.error('An error was not handled.', { error }));
  const { config, listener, nodes, wallets, cookie } = await runSteps(START, given, made);
  const { baseUrl } = listener;
  // The signal handlers come before wallets are resumed, because that waits for nodes.
  onStopSignal(() => {
    log.info('Stopping.');
    return undoAll(made, log);
  });
  // It answers from here on. Resuming wallets may take as long as a node is out of reach.
  void tellSystemd(process.env, log);
  await wallets.resume();
  log.info('wallet-sidecar is ready.', { version: VERSION, url: baseUrl, node: nodes.kind });
  if (isOpenToAll(config)) {
    log.warn(
      `Every program and user that can reach ${baseUrl} can use the default wallet, as its owner or with the default credentials: start with --require-auth to require credentials.`,
    );
  }
  if (given.mode !== 'dev' || nodes.sandbox === null) return;
  await fundDevWallet(wallets, nodes.sandbox);
  trial.isReady = true;
  const { dataDir, requireAuth } = config;
  if (json) {
    console.log(welcomeJson({ baseUrl, dataDir, token: cookie }));
    return;
  }
  const cookiePath = requireAuth ? join(dataDir, 'cookie') : null;
  for (const line of welcomeLines(baseUrl, cookiePath)) console.log(line);
}

function configOf(mode: 'serve' | 'dev', flags: Flags): Config {
  const config = loadConfig({ flags, env: process.env, cwd: process.cwd() });
  if (mode === 'dev' && defaultKind(config) !== 'sandbox') {
    throw new ConfigError(
      'dev runs on the sandbox: leave out --node, --node-url and the credentials of a real node, or use serve.',
    );
  }
  // Before anything is written: the step that refuses it as well comes after the trial wallet's seed.
  if (mode === 'dev') requireRealNode(config);
  return config;
}
