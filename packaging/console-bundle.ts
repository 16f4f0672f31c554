import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { text } from '../src/console/texts/index.ts';
import { type ConsoleFile, PAGE } from '../src/http/console/files.ts';

/** Where the page finds its files. */
const FOLDER = '/console';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * Bundles and compresses the console. Each file's name holds a hash of its content, so browsers may keep it for ever;
 * the page alone names them. The same sources give the same bytes (docs/decisions.md 105).
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
  const built = await Promise.all(
    result.outputs.map(async (output) => {
      const content = new Uint8Array(await output.arrayBuffer());
      const [, ending = ''] = /\.(\w+)$/.exec(output.path) ?? [];
      return fileOf(`main-${hashOf(content)}.${ending}`, MEDIA_TYPES[ending] ?? '', content);
    }),
  );
  const template = await readFile(join(sources, PAGE), 'utf8');
  const files = built.map(({ name }) => [name.split('.').at(-1), `${FOLDER}/${name}`] as const);
  const values: Readonly<Record<string, string>> = {
    ...Object.fromEntries(files),
    name: text.name,
    loading: text.loading,
  };
  const page = Object.entries(values).reduce(
    (html, [name, value]) => html.replace(`{{${name}}}`, value),
    template,
  );
  const own = fileOf(PAGE, 'text/html; charset=utf-8', new TextEncoder().encode(page));
  return [own, ...built.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
}

function fileOf(name: string, mediaType: string, content: Uint8Array): ConsoleFile {
  const gzip = gzipSync(content, { level: 9 });
  return { name, mediaType, gzip: gzip.toString('base64'), hash: hashOf(content) };
}

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
