import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import { asking, flag } from '../command.ts';
import { connectionOf } from '../connection.ts';

const linkJson = () =>
  z.object({
    token: z.string().regex(/^[0-9a-f]{64}$/),
    expires_in_secs: z.int().positive(),
    user_pk: z.string(),
  });

/** Adds `console`, which prints a link that signs a browser in to the console (docs/decisions.md 132). */
export const addConsole = asking(
  'console',
  {
    about:
      'Print a link that opens the console in a browser, signed in. It works once, within a minute. Give it to nobody.',
    words: {
      open: flag(
        '--open',
        'open it in the browser of this machine; other users of it may see the link for a moment in the list of processes',
      ),
    },
    examples: ['console', 'console --open'],
  },
  async ({ open }, { io, flags, ask }) => {
    const { value } = await ask(
      (_, transport) => transport.post('/v2/console/link', {}),
      linkJson(),
    );
    const { token, expires_in_secs, user_pk } = value;
    const link = `${connectionOf(io, flags).baseUrl}/console#link=${token}`;
    if (open) {
      io.stderr('Opening the console in the browser. If it does not show, open this link:');
      openInBrowser(link);
    }
    io.stdout(flags.json ? JSON.stringify({ url: link, expires_in_secs, user_pk }) : link);
    if (!flags.json) {
      io.stderr(
        `The link works once, within ${expires_in_secs} seconds. It opens the wallet ${printable(user_pk)}, which the page names before you sign in.`,
      );
    }
  },
);

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
