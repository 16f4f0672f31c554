import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, connectionOf, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';

interface ConsoleFlags extends ConnectionFlags {
  readonly open?: true;
}

const linkJson = z.object({
  token: z.string().regex(/^[0-9a-f]{64}$/),
  expires_in_secs: z.int().positive(),
  user_pk: z.string(),
});

/** Adds `console`, which prints a link that signs a browser in to the console (docs/decisions.md 132). */
export function addConsole(parent: Command, io: CliIo): void {
  const command = parent
    .command('console')
    .description(
      'Print a link that opens the console in a browser, signed in. It works once, within a minute. Give it to nobody.',
    )
    .option(
      '--open',
      'open it in the browser of this machine; other users of it may see the link for a moment in the list of processes',
    );
  withExamples(withConnection(command), 'console', 'console --open').action(
    async (flags: ConsoleFlags) => {
      const { value } = await sidecarClient(io, flags)(
        (_, transport) => transport.post('/v2/console/link', {}),
        linkJson,
      );
      const link = `${connectionOf(io, flags).baseUrl}/console#link=${value.token}`;
      if (flags.open) {
        io.stderr('Opening the console in the browser. If it does not show, open this link:');
        openInBrowser(link);
      }
      io.stdout(
        flags.json
          ? JSON.stringify({
              url: link,
              expires_in_secs: value.expires_in_secs,
              user_pk: value.user_pk,
            })
          : link,
      );
      if (!flags.json) {
        io.stderr(
          `The link works once, within ${value.expires_in_secs} seconds. It opens the wallet ${printable(value.user_pk)}, which the page names before you sign in.`,
        );
      }
    },
  );
}

/** Starts the program that opens URLs on this system, where there is one, and does not wait for it. */
function openInBrowser(link: string): void {
  const [program = '', ...words] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  const path = Bun.which(program);
  if (path === null) return;
  Bun.spawn([path, ...words, link], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  }).unref();
}
