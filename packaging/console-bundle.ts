import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { text } from '../src/console/texts/index.ts';
import { type ConsoleFile, PAGE, SIGNED_IN_PAGE } from '../src/http/console/files.ts';
import { FIRST_OF_PAGES, FIRST_OF_SIGN_IN } from './console-first-paint.ts';

/** Where the page finds its files. */
const FOLDER = '/console';

/**
 * Bundles and compresses the console: its page in two forms, and its script, whose name holds a hash of its content, so
 * that browsers may keep it for ever. The page holds its style and its beginning, so that it is seen before the script
 * has come. The same sources give the same bytes (docs/decisions.md 105).
 */
export async function bundleConsole(root: string): Promise<readonly ConsoleFile[]> {
  const sources = join(root, 'src', 'console');
  const result = await Bun.build({
    entrypoints: [join(sources, 'main.tsx'), join(sources, 'style', 'main.css')],
    root: sources,
    target: 'browser',
    format: 'esm',
    minify: true,
    splitting: false,
    naming: '[name].[ext]',
    tsconfig: join(root, 'tsconfig.console.json'),
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  if (!result.success) throw new AggregateError(result.logs, 'The console was not built.');
  const [script, style] = await Promise.all([
    contentOf(result, '.js'),
    contentOf(result, '.css').then((css) => css.trim()),
  ]);
  const js = fileOf(`main-${hashOf(script)}.js`, 'text/javascript; charset=utf-8', script);
  const template = await readFile(join(sources, 'index.html'), 'utf8');
  const pageOf = (name: string, first: string): ConsoleFile => {
    const values = {
      name: text.name,
      style: `<style>${style}</style>`,
      js: `${FOLDER}/${js.name}`,
      first,
    };
    const page = Object.entries(values).reduce(
      (html, [place, value]) => html.replace(`{{${place}}}`, () => value),
      template,
    );
    return fileOf(name, 'text/html; charset=utf-8', page, style);
  };
  return [pageOf(PAGE, FIRST_OF_SIGN_IN), pageOf(SIGNED_IN_PAGE, FIRST_OF_PAGES), js];
}

async function contentOf(result: Bun.BuildOutput, ending: string): Promise<string> {
  const [found] = result.outputs.filter(({ path }) => path.endsWith(ending));
  if (found === undefined) throw new Error(`The console was built without ${ending}.`);
  return found.text();
}

function fileOf(
  name: string,
  mediaType: string,
  content: string,
  style: string | null = null,
): ConsoleFile {
  const gzip = gzipSync(content, { level: 9 }).toString('base64');
  const styleHash = style && createHash('sha256').update(style).digest('base64');
  return { name, mediaType, gzip, hash: hashOf(content), styleHash };
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
