import { expect, test } from 'bun:test';
import { labelInput } from '../../src/model/clients/client.ts';
import { endpointDescriptionInput } from '../../src/model/webhooks/webhook-endpoint.ts';

test('a name for people keeps no characters that show nothing, and those that scripts and emoji need', () => {
  for (const input of [labelInput(), endpointDescriptionInput()]) {
    expect(input.parse('Till\u202e 1\u2066\u200b\u0007\n\u2028')).toBe('Till 1');
    const family = '\u{1f468}\u200d\u{1f469}';
    expect(input.parse(family)).toBe(family);
    expect(input.parse('\u0645\u06cc\u200c\u062e')).toBe('\u0645\u06cc\u200c\u062e');
  }
});
