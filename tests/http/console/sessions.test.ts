import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { MOST_OF_ALL } from '../../../src/http/console/room.ts';
import { consoleSessions, IDLE_MS, LONGEST_MS } from '../../../src/http/console/sessions.ts';

const SIGNED_IN = {
  caller: 'owner',
  credentials: 'a',
  origin: 'http://127.0.0.1:5393',
  permissions: [],
};

function sessionsAt() {
  const time = { ms: 0 };
  const sessions = consoleSessions({
    elapsedMs: () => time.ms,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
  });
  return { sessions, time };
}

describe('a session of the console (docs/decisions.md 133)', () => {
  test('is found by both halves, and by neither alone', () => {
    const { sessions } = sessionsAt();
    const [own, other] = [sessions.begin(SIGNED_IN), sessions.begin(SIGNED_IN)];
    expect(own.id).not.toBe(own.key);
    expect(sessions.find(own)?.credentials).toBe('a');
    expect(sessions.find({ id: own.id, key: other.key })).toBeNull();
    expect(sessions.find({ id: own.key, key: own.id })).toBeNull();
    expect(sessions.find({ id: own.id, key: '' })).toBeNull();
    expect(sessions.find({ id: '', key: own.key })).toBeNull();
  });

  test('ends a quarter of an hour after the last request, and so do its streams', () => {
    const { sessions, time } = sessionsAt();
    const secrets = sessions.begin(SIGNED_IN);
    time.ms = IDLE_MS - 1;
    const session = sessions.find(secrets);
    time.ms += IDLE_MS - 1;
    expect(sessions.find(secrets)).toBe(session);
    expect(session?.ended.aborted).toBe(false);
    time.ms += IDLE_MS;
    expect(sessions.find(secrets)).toBeNull();
    expect(session?.ended.aborted).toBe(true);
  });

  test('ends after eight hours, however much it is used', () => {
    const { sessions, time } = sessionsAt();
    const secrets = sessions.begin(SIGNED_IN);
    for (; time.ms < LONGEST_MS; time.ms += IDLE_MS / 2) {
      expect(sessions.find(secrets)).not.toBeNull();
    }
    expect(sessions.find(secrets)).toBeNull();
  });

  test('a request with a wrong key neither ends it nor keeps it', () => {
    const { sessions, time } = sessionsAt();
    const secrets = sessions.begin(SIGNED_IN);
    time.ms = IDLE_MS - 1;
    expect(sessions.find({ ...secrets, key: 'ab'.repeat(32) })).toBeNull();
    time.ms = IDLE_MS;
    expect(sessions.find(secrets)).toBeNull();
  });

  test('the one of a caller that was idle longest makes room for its eleventh', () => {
    const { sessions, time } = sessionsAt();
    const idle = sessions.begin(SIGNED_IN);
    time.ms = 1;
    const used = sessions.begin(SIGNED_IN);
    for (let begun = 0; begun < 9; begun++) sessions.begin(SIGNED_IN);
    expect(sessions.find(idle)).toBeNull();
    expect(sessions.find(used)).not.toBeNull();
  });

  test('does not end by the sessions of another caller, however many', () => {
    const { sessions, time } = sessionsAt();
    const own = sessions.begin(SIGNED_IN);
    time.ms = 1;
    for (let begun = 0; begun < MOST_OF_ALL; begun++)
      sessions.begin({ ...SIGNED_IN, caller: 'client' });
    expect(sessions.find(own)).not.toBeNull();
  });

  test('makes room when all callers together have too many', () => {
    const { sessions, time } = sessionsAt();
    const idle = sessions.begin(SIGNED_IN);
    time.ms = 1;
    const used = sessions.begin(SIGNED_IN);
    for (let begun = 2; begun <= MOST_OF_ALL; begun++)
      sessions.begin({ ...SIGNED_IN, caller: `client ${begun}` });
    expect(sessions.find(idle)).toBeNull();
    expect(sessions.find(used)).not.toBeNull();
  });
});
