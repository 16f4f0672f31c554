import { expect, test } from 'bun:test';
import { parseServerUrl, parseWebUrl } from '../../src/model/web-url.ts';

test('the URL of a receiver stays as it was typed, with the slash at its end', () => {
  for (const url of [
    'https://shop.example/hook/',
    'http://127.0.0.1:8080',
    'https://a.example/?b=/',
  ]) {
    expect(parseWebUrl(url)).toEqual({ value: url });
  }
});

test('the URL of a server, to which paths are added, loses slashes at its end', () => {
  expect(parseServerUrl('https://node.example/lnd//')).toEqual({
    value: 'https://node.example/lnd',
  });
});

test('what would be another URL than it seems to be is refused', () => {
  for (const url of ['http://a\r\nb', ' http://a', 'http://a ', 'ftp://a', 'shop.example', '']) {
    for (const parse of [parseWebUrl, parseServerUrl]) {
      expect(parse(url)).toEqual({ problem: 'must be an http or https URL' });
    }
  }
});
