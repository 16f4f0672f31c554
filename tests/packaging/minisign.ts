import { parseArgs } from 'node:util';
import { readPublicKey, verified } from '../../packaging/minisign.ts';

/* Stands for `minisign -V -P <key> -m <file>` where that program is not installed. */
const { values } = parseArgs({
  options: {
    V: { type: 'boolean', short: 'V' },
    P: { type: 'string', short: 'P', default: '' },
    m: { type: 'string', short: 'm', default: '' },
  },
});
const signature = await Bun.file(`${values.m}.minisig`).text();
const key = readPublicKey(`untrusted comment:\n${values.P}\n`);
process.exit(verified(await Bun.file(values.m).bytes(), signature, key) === null ? 1 : 0);
