import { render } from 'preact';
import { App } from './app.tsx';

const root = document.getElementById('console');
if (root) {
  // What the page showed until now gives way in one step, so that nothing of it is left beside another page.
  root.replaceChildren();
  render(<App />, root);
}
