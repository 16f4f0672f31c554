import { text } from '../src/console/texts/index.ts';

/**
 * What the sign-in shows before its script runs: its beginning, at its place, so that nothing moves when the script
 * draws the rest.
 */
export const FIRST_OF_SIGN_IN = `<main class="alone"><h1>${text.signIn.title}</h1><p>${text.signIn.byLink}</p><pre><code>${text.signIn.command}</code></pre></main>`;

/** What the pages behind the sign-in show before their script runs: the frame around every page, still empty. */
export const FIRST_OF_PAGES = `<div class="frame"><header class="side"><p class="brand">${text.name}</p></header><main id="content"><p role="status">${text.loading}</p></main></div>`;
