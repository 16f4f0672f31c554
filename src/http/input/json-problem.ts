import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

const IN_WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this word is not valid in JSON',
  InvalidNumberFormat: 'this number is not valid in JSON',
  PropertyNameExpected: 'the name of a field in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing brace is missing',
  CloseBracketExpected: 'a closing bracket is missing',
  EndOfFileExpected: 'something follows the end of the JSON value',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'a closing double quote is missing',
  UnexpectedEndOfNumber: 'a number is not complete',
  InvalidUnicode: 'an escaped character is not complete',
  InvalidEscapeCharacter: 'a backslash stands before a character that must not be escaped',
  InvalidCharacter: 'a control character must be written as an escape',
};

/** Says where and why a text is not JSON, and quotes nothing of it: it may be a secret (docs/decisions.md 13). */
export function jsonProblem(text: string): string {
  const first = firstError(text);
  if (!first) return 'The body is not JSON.';
  const before = text.slice(0, first.offset).split('\n');
  const column = (before.at(-1) ?? '').length + 1;
  const what = IN_WORDS[printParseErrorCode(first.error)] ?? 'this is not JSON';
  return `The body is not JSON: line ${before.length}, column ${column}: ${what}.`;
}

function firstError(text: string): ParseError | undefined {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true });
  } catch {
    // The text is nested too deeply for this parser, so no position can be given.
  }
  return errors[0];
}
