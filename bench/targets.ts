/** What is wanted of a figure. */
export interface Target {
  /** The most or the least that the number may be. */
  readonly most?: number;
  readonly least?: number;
  /** The unit of the number, with a blank before it where one belongs. */
  readonly unit: string;
  /** Why it is missed, where that is known; a miss without a reason cannot be written to the documentation. */
  readonly why: string | null;
}

const PROCESSORS =
  'The process that makes the load shares the processors of the machine with the sidecar, so an absolute figure is that of this machine.';
const ROUTING =
  'Each request is checked before it is answered (host, origin, credentials, permission, query), and its answer carries headers that the bare server does not send. The ratio depends on the machine, and is higher on a faster one.';
const IN_BETWEEN =
  "The calls are read, checked and sent on by one thread, and their answers are checked before they are passed on. [What a real node's calls wait for](#what-a-real-nodes-calls-wait-for) has the steps.";
const FLUSHES =
  "An invoice is told once it is watched, which is one flush to the disk, and a payment has two that cannot be left out, before it is sent and at its end. The node flushes its own files to the same disk meanwhile. [What a real node's calls wait for](#what-a-real-nodes-calls-wait-for) has the steps.";
const SLOWEST =
  'Nodes, chain, sidecar and bench share the processors and the disk of the machine, and a call through the sidecar waits for them in more places than a direct one.';

/** Everything that is wanted, each with the reason where it may be missed. Figures refer to it by name. */
export const TARGETS = {
  start: {
    ...{ most: 80, unit: ' ms' },
    why: 'Most of it is loading the program and running its modules for the first time, which takes the processor alone.',
  },
  idleMemory: {
    ...{ most: 75, unit: ' MB' },
    why: 'The runtime itself takes what the hello-world takes; the rest is the program and what is read of its file.',
  },
  health: {
    ...{ least: 0.7, unit: '' },
    why: `${ROUTING} A profile shows a sixth of its time in the routing, a seventh in asking the system for the space on the disk, and a tenth each in the checks of the head and in its route.`,
  },
  nodeInfo: { least: 0.35, unit: '', why: ROUTING },
  payment: {
    ...{ least: 0.4, unit: '' },
    why: `${ROUTING} The answer is of 1 kB, where the bare server sends 15 bytes. A profile shows a fifth of its time in two statements, of the store and of the sandbox, a seventh in reading and writing JSON, an eighth in the checks of the head, and a twelfth in the routing.`,
  },
  authentication: {
    ...{ most: 20, unit: ' µs' },
    why: 'It is computed as the difference of two rates, so it contains what both of them vary.',
  },
  analyze: { least: 3000, unit: '/s', why: PROCESSORS },
  createInvoice: {
    ...{ least: 0.5, unit: '' },
    why: `${PROCESSORS} A profile shows a quarter of the time of a request in its statements and their flush, a fifth in its signature, which the loop has too, a twelfth each in the sandbox node and in the routing, and less in everything else.`,
  },
  pairs: {
    ...{ least: 0.6, unit: '' },
    why: 'Of the time of a pair a third is waiting for the disk, and a fifth its signature and the check of it. Its statements, 66 by themselves and 53 beside other pairs, take a tenth; by itself 22 of these begin, mark and commit transactions, and 24 of the others are of the sandbox, which is both nodes. The rest is two requests, the JSON of payments and two notices, none of which takes much by itself.',
  },
  lnbits: {
    ...{ least: 30, unit: ' times LNbits' },
    why: 'A pair is told when it is signed, checked and flushed to the disk: the loop of that alone, under [Writes](#writes), is the most that it can be, and takes a third of the time of a pair. Flushes that run beside other work were tried: a pair then took 3.7 ms of processor time in place of 3.0, and was made no sooner. The process that makes the load shares the processors with both sides.',
  },
  streams: {
    ...{ most: 3, unit: ' times' },
    why: 'An update is made once for all streams of one credential. What is left is one write to each connection, and the bare server pays that as well.',
  },
  webhookP50: { most: 10, unit: ' ms', why: PROCESSORS },
  webhookP99: { most: 50, unit: ' ms', why: PROCESSORS },
  webhookBurst: { least: 1000, unit: '/s', why: PROCESSORS },
  waits: {
    ...{ most: 1000, unit: ' ms' },
    why: 'Each wait is answered by itself, and read by the bench on the same processors.',
  },
  wallets: {
    ...{ most: 200, unit: ' MB' },
    why: 'An open wallet holds its session, its node on the sandbox and its feed, and the figure contains the idle memory of the process.',
  },
  sync: {
    ...{ least: 30_000, unit: '/s' },
    why: 'The three indexes of the cache, by which lists are filtered, take a quarter of the processor time. Pages are small and each is flushed to the disk, and the log of commits is moved into the file after every 2 MB, so that other requests come in between.',
  },
  healthDuringSync: {
    ...{ most: 20, unit: ' ms' },
    why: 'A page of the sync is stored in one step of about 6 ms, and a request that arrives then waits for it, and for the flush to the disk.',
  },
  list: { least: 0.6, unit: '', why: ROUTING },
  listLarge: {
    ...{ least: 0.9, unit: '' },
    why: 'The rows of a large cache do not fit into the memory that SQLite keeps pages in (16 MB), so some are read through the operating system.',
  },
  mixedUnpaced: {
    ...{ most: 50, unit: ' ms at p99' },
    why: 'The connections send again at once and keep a processor busy with signatures, so a request waits for as long as the line is.',
  },
  mixedPaced: { most: 50, unit: ' ms at p99', why: PROCESSORS },
  undocumented: { most: 0, unit: '', why: null },
  streamed: { most: 0, unit: ' left out', why: null },
  memoryGrowth: { most: 10, unit: ' % more', why: null },
  soakLatency: { most: 50, unit: ' ms', why: PROCESSORS },
  soakMemory: { most: 10, unit: ' % more', why: null },
  lndInfo: { most: 1, unit: ' ms', why: IN_BETWEEN },
  lndInfoP99: { most: 1.3, unit: ' times', why: SLOWEST },
  lndCreate: { most: 1, unit: ' ms', why: FLUSHES },
  lndCreateP99: { most: 1.3, unit: ' times', why: SLOWEST },
  lndPay: {
    ...{ most: 1, unit: ' ms' },
    why: `${FLUSHES} The sidecar also stores LND's first answer, with a flush of its own while LND makes the payment, and opens a connection for each payment, so that it is certain whether the request left. A profile of 400 payments, 10 ms of the sidecar's thread each, shows a third of it in the store, half of that in commits, a seventh in connections to LND, a tenth in reading its answers and a fourteenth in recovering the payee; the rest is spread thin.`,
  },
  lndPayP99: { most: 1.3, unit: ' times', why: SLOWEST },
  lndFirstSync: {
    ...{ most: 1.5, unit: ' times' },
    why: 'The cache is filled while LND makes its next page, and that takes the processor that LND needs to list.',
  },
  clnInfo: { most: 1, unit: ' ms', why: IN_BETWEEN },
  clnInfoP99: { most: 1.3, unit: ' times', why: SLOWEST },
  clnCreate: { most: 1, unit: ' ms', why: FLUSHES },
  clnCreateP99: { most: 1.3, unit: ' times', why: SLOWEST },
  clnPay: {
    ...{ most: 1, unit: ' ms' },
    why: `${FLUSHES} Besides, \`lightningd\` answers one call after another, and two are made before a payment, with a third once a second, where the bare program makes one.`,
  },
  clnPayP99: { most: 1.3, unit: ' times', why: SLOWEST },
  clnFirstSync: {
    ...{ most: 1.5, unit: ' times' },
    why: 'The node lists its rows faster than they can be read, checked and stored. Of the processor time, 0.2 ms for each row, a quarter is reading its JSON and its invoice, a quarter the journal, another the cache and its words, and an eighth the transactions on chain, which are read whole; the rest is the first run of that code.',
  },
  ldkInfo: { most: 1, unit: ' ms', why: IN_BETWEEN },
  ldkInfoP99: { most: 1.3, unit: ' times', why: SLOWEST },
  ldkCreate: { most: 1, unit: ' ms', why: FLUSHES },
  ldkCreateP99: { most: 1.3, unit: ' times', why: SLOWEST },
  ldkPay: {
    ...{ most: 1, unit: ' ms' },
    why: `${FLUSHES} The sidecar's processor time, which the table tells, is as much as what it adds.`,
  },
  ldkPayP99: { most: 1.3, unit: ' times', why: SLOWEST },
  ldkSize: { most: 32, unit: ' MB', why: null },
  lookup: {
    ...{ least: 0.5, unit: '' },
    why: `${ROUTING} A read is a round trip to another process here; the same read on SQLite, beside it, has none.`,
  },
  onPostgres: {
    ...{ least: 0.7, unit: ' times one on SQLite' },
    why: 'A pair on PostgreSQL is four transactions of 32 statements in 21 round trips by itself, and 25 in 13 beside others. Each goes through the client library, a socket and another process, on the same processors: an invoice takes 2.6 ms of the sidecar, 1.2 of PostgreSQL and 1.8 of the process that makes the load. Sessions that are kept, savepoints after a failure alone and statements by name were tried, and made 352 invoices a second in place of 342.',
  },
  atLeader: {
    ...{ least: 0.95, unit: ' times one on PostgreSQL' },
    why: 'What stands by takes no request here, but it looks at the lease, on the same two processors. Three runs of one day gave 0.96, 1.00 and 1.07 for an invoice and 0.89, 0.93 and 1.08 for a payment, which vary by more than what is missing.',
  },
  fleet: {
    ...{ least: 1, unit: ' times one on SQLite' },
    why: 'One sidecar leads, and the others pass their requests on to it: more of them make it safer, not faster. A request that is passed on is two, a write to PostgreSQL is several round trips, and here all share two processors.',
  },
  firstPaint: {
    ...{ most: 100, unit: ' ms' },
    why: 'The browser itself takes most of it, as the page of one word shows. Most of what the console adds is its script, which runs beside the first drawing on the same processors; a script that waits for that makes the form come later, and the first paint no sooner that could be measured.',
  },
} satisfies Readonly<Record<string, Target>>;

/** The name of a target. */
export type TargetName = keyof typeof TARGETS;

/** Whether a number is what is wanted. */
export function isMet({ most, least }: Target, is: number): boolean {
  return (most === undefined || is <= most) && (least === undefined || is >= least);
}

/** What is wanted, in words. */
export function wanted({ most, least, unit }: Target): string {
  if (most === 0) return unit === '' ? 'none' : `none${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `at most ${most}${unit}`;
}
