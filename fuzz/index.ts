import { parseArgs } from 'node:util';
import { fuzzCodecs } from './codecs.ts';
import { fuzzEndpoints } from './endpoints.ts';
import { compareVerdicts } from './verdicts.ts';

/** The long run: `npm run fuzz -- --seed N --requests N --inputs N --verdicts N`. Exit code 1: a rule was broken. */
const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    requests: { type: 'string', default: '100000' },
    inputs: { type: 'string', default: '1000000' },
    verdicts: { type: 'string', default: '20000' },
  },
});
const [seed, requests, inputs] = [
  Number(values.seed),
  Number(values.requests),
  Number(values.inputs),
];
/** How many requests are open at a time; more would only wait in a queue. */
const WORKERS = 8;
const MOST_GROWTH_MB = 150;

console.log(`seed ${seed} (repeat with: npm run fuzz -- --seed ${seed})\n`);

const codecs = fuzzCodecs({ seed, inputs });
for (const { target, inputs: count, decoded, ms, longest } of codecs.perTarget) {
  console.log(
    `${target.padEnd(24)} ${String(count).padStart(8)} inputs, ${String(decoded).padStart(7)} read, ${Math.round(ms)} ms, longest ${longest.toFixed(1)} ms`,
  );
}
for (const { target, round, rule, input } of codecs.findings) {
  console.log(`\nBROKEN ${target}, input ${round}: ${rule}\n${input.slice(0, 2000)}`);
}

const report = requests === 0 ? null : await fuzzEndpoints({ seed, requests, workers: WORKERS });
if (report) {
  console.log(
    `\n${report.requests} requests, answers by status: ${JSON.stringify(report.perStatus)}`,
  );
  console.log(`never answered 2xx: ${report.neverGood.join(', ') || 'none'}`);
  console.log(`memory after each fifth: ${report.memoryMb.join(', ')} MB`);
  for (const { round, rule, request, answer } of report.findings) {
    console.log(`\nBROKEN request ${round}: ${rule}\n${request}\n-> ${answer}`);
  }
  for (const line of report.errors) console.log(`\nlogged: ${line.slice(0, 3000)}`);
  for (const leak of report.leaks) console.log(`\nBROKEN the log or a webhook shows ${leak}`);
  if (!report.alive) console.log(`\nBROKEN the sidecar has ended:\n${report.logTail}`);
}
const verdicts = await compareVerdicts({ seed, requests: Number(values.verdicts) });
console.log(`\n${verdicts.requests} verdicts compared, ${verdicts.refused} of them refusals`);
for (const [reason, count] of Object.entries(verdicts.reasons)) {
  console.log(`${String(count).padStart(8)} rejected by the server alone: ${reason}`);
}
for (const { round, request, schema, server } of verdicts.findings) {
  console.log(`\nBROKEN verdict ${round}: ${request}\n  schema: ${schema}\n  server: ${server}`);
}
const [warmMb = 0] = report?.memoryMb ?? [];
const grew = Math.max(warmMb, ...(report?.memoryMb ?? [])) - warmMb > MOST_GROWTH_MB;
if (grew) console.log(`\nBROKEN the memory grew by more than ${MOST_GROWTH_MB} MB`);
const broken =
  codecs.findings.length +
  verdicts.findings.length +
  (report?.findings.length ?? 0) +
  (report?.leaks.length ?? 0);
process.exit(broken > 0 || grew || report?.alive === false ? 1 : 0);
