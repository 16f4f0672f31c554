import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { publicKeyFile, secretKeyText, signingKeyFrom } from '../packaging/minisign.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../packaging/release-key.ts';

/*
 * Makes the key that releases are signed with: writes the public key into the repository, and prints the secret key,
 * which is stored nowhere.
 */
if (existsSync(PUBLIC_KEY)) {
  console.error(
    `${PUBLIC_KEY} is there already. Remove it to change the key: installed scripts then refuse the new releases.`,
  );
  process.exit(1);
}
if (process.stdout.isTTY) {
  console.error(
    `The secret key would be shown here. Pass it on instead, as docs/operations.md says.`,
  );
  process.exit(2);
}
const key = signingKeyFrom(randomBytes(40));
writeFileSync(PUBLIC_KEY, publicKeyFile(key.public), { flag: 'wx' });
console.log(secretKeyText(key));
console.error(
  `${PUBLIC_KEY} was written: commit it. The secret key went to the standard output: it is ${SECRET_KEY}.`,
);
