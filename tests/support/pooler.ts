/** A TCP proxy before PostgreSQL that treats what is asked for when a connection opens as PgBouncer does. */
export interface Pooler {
  readonly port: number;
  stop(): void;
}

/** The protocol's number 3.0 of a startup message. Others ask for encryption or for the end of a query. */
const STARTUP = 196608;
/** What PgBouncer keeps of a startup message; it refuses every other parameter unless it is told to ignore it. */
const KEPT = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]);
const isKept = (name: string) => KEPT.has(name.toLowerCase());

/**
 * Starts one to that port of this machine, which gives every connection a session of its own. `others` says what it
 * does with parameters that it does not keep.
 */
export function startPooler(target: number, others: 'refuse' | 'ignore'): Pooler {
  interface Side {
    other: Bun.Socket<Side> | null;
    early: Buffer[];
    begun: boolean;
  }
  const handlers: Bun.SocketHandler<Side> = {
    data(from, bytes) {
      from.data.other?.write(bytes);
    },
    close(socket) {
      socket.data.other?.end();
    },
    error: () => undefined,
  };
  const listener = Bun.listen<Side>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      ...handlers,
      open(client) {
        client.data = { other: null, early: [], begun: false };
      },
      async data(client, bytes) {
        if (client.data.begun) {
          if (client.data.other) client.data.other.write(bytes);
          else client.data.early.push(Buffer.from(bytes));
          return;
        }
        client.data.begun = true;
        const kept = startup(bytes);
        if (kept.left.length > 0 && others === 'refuse') {
          client.write(refusal(`unsupported startup parameter: ${kept.left[0]}`));
          client.end();
          return;
        }
        const server = await Bun.connect<Side>({
          hostname: '127.0.0.1',
          port: target,
          data: { other: client, early: [], begun: true },
          socket: handlers,
        });
        server.write(kept.message);
        for (const early of client.data.early) server.write(early);
        client.data.other = server;
      },
    },
  });
  return { port: listener.port, stop: () => listener.stop(true) };
}

/** Returns the startup message with what is kept of it, and the names of what is left out. */
function startup(bytes: Buffer): { message: Buffer; left: string[] } {
  if (bytes.readInt32BE(4) !== STARTUP) throw new Error('The client does not begin in clear.');
  const words = bytes.subarray(8).toString('utf8').split('\0');
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < words.length && words[at] !== ''; at += 2) {
    pairs.push([words[at] ?? '', words[at + 1] ?? '']);
  }
  const text = pairs.filter(([name]) => isKept(name)).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${text.join('')}\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(STARTUP, 4);
  const left = pairs.map(([name]) => name).filter((name) => !isKept(name));
  return { message: Buffer.concat([head, body]), left };
}

/** An error of the server, as PgBouncer writes it. */
function refusal(message: string): Buffer {
  const body = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E', 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
