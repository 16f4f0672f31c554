/** The width of docstrings. */
const COLUMNS = 96;

/** Returns text as a docstring that ends with a line break, broken into lines. */
export function docstring(text: string): string {
  const lines = wrapped(escaped(text));
  return lines.length === 1 ? `"""${lines[0]}"""\n` : `"""${lines.join('\n')}\n"""\n`;
}

/** Returns text with each line four columns further right. */
export function block(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

/** Breaks paragraphs into lines. */
function wrapped(text: string): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines = [''];
    for (const word of paragraph.split(' ')) {
      const line = lines.at(-1) ?? '';
      if (line !== '' && line.length + word.length >= COLUMNS) lines.push(word);
      else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
    return lines;
  });
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', "'''")
    .replace(/\bnull\b/gi, 'None');
}
