import { describe, expect, test } from 'bun:test';
import { connectionGuard } from '../../../src/http/limits/connection-guard.ts';
import { openLog } from '../../../src/lib/log.ts';

/** Returns a guard of 256 descriptors over a process that the test describes. */
function guardOf(state: { lowestFree: number | null; silent: number; idle: number }) {
  const lines: string[] = [];
  const ended: string[] = [];
  let nowMs = 0;
  const guard = connectionGuard({
    limit: 256,
    lowestFree: () => state.lowestFree,
    endSilent: () => {
      ended.push('silent');
      nowMs += 40;
      return state.silent;
    },
    holdBack: (on) => ended.push(on ? 'hold' : 'go on'),
    closeIdle: () => {
      ended.push('idle');
      return state.idle;
    },
    log: openLog({ level: 'info', format: 'json', write: (line) => lines.push(line) }),
    elapsedMs: () => nowMs,
  });
  return { guard, ended, lines, pass: (ms: number) => (nowMs += ms) };
}

describe('the guard of connections', () => {
  test('ends nothing while a quarter of the descriptors is free', () => {
    const { guard, ended } = guardOf({ lowestFree: 191, silent: 3, idle: 2 });
    expect(guard.look()).toBe(100);
    expect(ended).toEqual([]);
  });

  test.each([192, null])('ends connections without a request, lowest free: %p', (lowestFree) => {
    const { guard, ended, lines } = guardOf({ lowestFree, silent: 3, idle: 2 });
    guard.look();
    expect(ended).toEqual(['hold', 'silent']);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ limit: 256, reserve: 64, silent: 3 });
  });

  test('ends those that wait for their next request when none is without one', () => {
    const { guard, ended } = guardOf({ lowestFree: null, silent: 0, idle: 2 });
    guard.look();
    expect(ended).toEqual(['hold', 'silent', 'idle']);
  });

  test('lets new connections wait until there is room, and looks more often for a while', () => {
    const state = { lowestFree: 192, silent: 3, idle: 2 };
    const { guard, ended, pass } = guardOf(state);
    expect(guard.look()).toBeGreaterThanOrEqual(100);
    state.lowestFree = 20;
    expect(guard.look()).toBe(10);
    expect(ended).toEqual(['hold', 'silent', 'go on']);
    pass(5_000);
    expect(guard.look()).toBe(100);
    expect(ended).toHaveLength(3);
  });

  test('spends no more than a fifth of the time on it, and a line of the log a minute', () => {
    const { guard, lines, pass } = guardOf({ lowestFree: null, silent: 3, idle: 0 });
    expect(guard.look()).toBeCloseTo(200, 5);
    pass(1000);
    guard.look();
    expect(lines).toHaveLength(1);
    pass(60_000);
    guard.look();
    expect(lines).toHaveLength(2);
  });
});
