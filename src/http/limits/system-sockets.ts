import { dlopen, ptr } from 'bun:ffi';

/** Numbers of Linux's socket interface, the same on x64 and arm64. */
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_DETACH_FILTER = 27;
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;
const TCP_INFO = 11;
const TCP_ESTABLISHED = 1;
const TCP_LISTEN = 10;
const SHUT_RDWR = 2;
const AF_INET = 2;
const AF_INET6 = 10;
/** Where `struct tcp_info` holds the bytes that the peer has sent, since Linux 4.1. */
const BYTES_RECEIVED_AT = 128;
/** Of `GET / HTTP/1.0` and an empty line: with less, a connection has no request in progress. */
const SHORTEST_REQUEST_BYTES = 18n;
/** The first descriptor that is not standard input, output or error. */
const FIRST = 3;

/** One instruction of a socket filter, `BPF_RET | BPF_K` with 0: nothing passes. */
const DROP_ALL = new BigUint64Array([0x06n]);

/** What the system can do about the connections to a port of this process, which Bun does not offer. */
export interface SystemSockets {
  /** Ends the connections whose client has not sent a request; returns how many. */
  endSilent(): number;
  /** While on, new connections are not accepted: their clients wait. */
  holdBack(on: boolean): void;
}

interface SystemSocketOptions {
  readonly port: number;
  /** The descriptors below it are looked at. */
  readonly most: number;
  /** For so long a connection that sends nothing waits in the kernel, where it costs no descriptor. */
  readonly deferSecs: number;
}

/**
 * Takes the listening socket of a port in hand. Returns null where that is not possible: on other systems than Linux.
 * The library is loaded here, because that needs descriptors of its own.
 */
export function systemSockets(options: SystemSocketOptions): SystemSockets | null {
  const { port, most, deferSecs } = options;
  const libc = process.platform === 'linux' ? openLibc() : null;
  if (libc === null) return null;
  const nameBytes = new Uint8Array(128);
  const infoBytes = new Uint8Array(256);
  const name = new DataView(nameBytes.buffer);
  const info = new DataView(infoBytes.buffer);
  const length = new Uint32Array(1);
  const isOurs = (descriptor: number): boolean => {
    length[0] = nameBytes.length;
    if (libc.getsockname(descriptor, nameBytes, length) !== 0) return false;
    const family = name.getUint16(0, true);
    return (family === AF_INET || family === AF_INET6) && name.getUint16(2) === port;
  };
  /** Its state and the bytes it has received; null for what is no socket of the port. */
  const lookAt = (descriptor: number) => {
    if (!isOurs(descriptor)) return null;
    length[0] = infoBytes.length;
    if (libc.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, infoBytes, length) !== 0) return null;
    if (length[0] < BYTES_RECEIVED_AT + 8) return null;
    return { state: info.getUint8(0), received: info.getBigUint64(BYTES_RECEIVED_AT, true) };
  };
  const listening = findListening(most, (descriptor) => lookAt(descriptor)?.state);
  if (listening === null) return null;
  const seconds = new Int32Array([deferSecs]);
  libc.setsockopt(listening, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds, seconds.byteLength);
  // `struct sock_fprog`: how many instructions, and where they are.
  const program = new BigUint64Array([1n, BigInt(ptr(DROP_ALL))]);
  return {
    holdBack(on) {
      const option = on ? SO_ATTACH_FILTER : SO_DETACH_FILTER;
      libc.setsockopt(listening, SOL_SOCKET, option, program, program.byteLength);
    },
    endSilent() {
      let ended = 0;
      for (let descriptor = FIRST; descriptor < most; descriptor++) {
        const found = lookAt(descriptor);
        if (found?.state !== TCP_ESTABLISHED || found.received >= SHORTEST_REQUEST_BYTES) continue;
        // Only Bun may close what it opened: it sees the end of the stream, and then does.
        if (libc.shutdown(descriptor, SHUT_RDWR) === 0) ended++;
      }
      return ended;
    },
  };
}

function findListening(
  most: number,
  stateOf: (descriptor: number) => number | undefined,
): number | null {
  for (let descriptor = FIRST; descriptor < most; descriptor++) {
    if (stateOf(descriptor) === TCP_LISTEN) return descriptor;
  }
  return null;
}

function openLibc() {
  try {
    return dlopen('libc.so.6', {
      getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
      shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    }).symbols;
  } catch {
    return null;
  }
}
