// Runs before the scripts that need packages, by Node as it comes: so it is JavaScript and imports no package.
import { existsSync } from 'node:fs';

if (!existsSync(new URL('../node_modules/bun', import.meta.url))) {
  console.error('The packages are not installed: run "npm install" first.');
  process.exit(1);
}
