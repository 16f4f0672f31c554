import { describe, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import type { LogLevel } from '../../src/lib/log-levels.ts';

/** Logs one entry with an error of two causes. Returns the entry's line. */
function lineOf(entry: 'warn' | 'error', level: LogLevel): string {
  const lines: string[] = [];
  const log = openLog({ level, format: 'json', write: (line) => void lines.push(line) });
  const connection = new Error('connect ECONNREFUSED\n127.0.0.1:8080');
  const request = new Error('the request failed', { cause: connection });
  const error = new TypeError('The node cannot be reached: try again.', { cause: request });
  log[entry]('The update feed broke.', { failures: 2, error });
  return lines.join('\n');
}

describe('a warning about an error', () => {
  test('holds what happened and its causes, and no stack', () => {
    expect(JSON.parse(lineOf('warn', 'info'))).toMatchObject({
      level: 'warn',
      failures: 2,
      error: {
        type: 'TypeError',
        message:
          'The node cannot be reached: try again. (the request failed: connect ECONNREFUSED 127.0.0.1:8080)',
      },
    });
    expect(lineOf('warn', 'info')).not.toContain('log.test.ts');
  });

  test('holds the stack at the level debug', () => {
    expect(JSON.parse(lineOf('warn', 'debug')).error.stack).toContain('log.test.ts');
  });
});

test('an error is logged with its stack', () => {
  expect(JSON.parse(lineOf('error', 'info')).error.stack).toContain('log.test.ts');
});
