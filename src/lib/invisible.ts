/**
 * Matches characters that show nothing: control and format characters such as those that turn the direction of what
 * follows, lone surrogates, private use, line and paragraph separators. The two joiners are none of them, because some
 * scripts and emoji need them.
 */
export const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
