import { dlopen, ptr } from 'bun:ffi';

/** Constants of Linux's socket interface; they are the same on x64 and arm64. */
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
/** The offset in `struct tcp_info` of the number of bytes received (`tcpi_bytes_received`), since Linux 4.1. */
const BYTES_RECEIVED_AT = 128;
/** The length of `GET / HTTP/1.0` and an empty line. A connection that has received less has no request in progress. */
const SHORTEST_REQUEST_BYTES = 18n;
/** The first descriptor after standard input, output and error. */
const FIRST = 3;

/** A socket filter of one instruction, `BPF_RET | BPF_K` with 0, which drops every packet. */
const DROP_ALL = new BigUint64Array([0x06n]);

/** Operations of the system on the connections to a port of this process, which Bun does not offer. */
export interface SystemSockets {
  /** Closes the connections on which no complete request has arrived. Returns how many it closed. */
  endSilent(): number;
  /** While it is on, new connections are not accepted, and their clients wait. */
  holdBack(on: boolean): void;
}

interface SystemSocketOptions {
  readonly port: number;
  /** Only descriptors below this number are examined. */
  readonly most: number;
  /** A new connection that sends nothing stays in the kernel for this many seconds, where it costs no descriptor. */
  readonly deferSecs: number;
}

/**
 * Finds the listening socket of a port and returns operations on its connections. Returns null on systems other than
 * Linux. It loads the C library at once, because loading needs descriptors, which may be missing later.
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
  /**
   * Returns the state of a connection and the number of bytes received; null for a descriptor that is not a socket of
   * the port.
   */
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
  // The two members of `struct sock_fprog`: the number of instructions and their address.
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
        // A descriptor that Bun opened may be closed only by Bun. A shutdown makes Bun see the end of the stream and
        // close it.
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
