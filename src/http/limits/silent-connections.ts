import { dlopen } from 'bun:ffi';

/** Numbers of Linux's socket interface, the same on x64 and arm64. */
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const TCP_ESTABLISHED = 1;
const SHUT_RDWR = 2;
const AF_INET = 2;
const AF_INET6 = 10;
/** Where `struct tcp_info` holds the bytes that the peer has sent, since Linux 4.1. */
const BYTES_RECEIVED_AT = 128;
/** Of `GET / HTTP/1.0` and an empty line: with less, a connection has no request in progress. */
const SHORTEST_REQUEST_BYTES = 18n;
/** The first descriptor that is not standard input, output or error. */
const FIRST = 3;

/** Ends every connection to a port whose client has not sent a request, among the descriptors below `most`; returns how many. */
export type EndSilentConnections = (port: number, most: number) => number;

/**
 * Bun neither tells of a connection before its first request nor closes one, so the system is asked. Returns null
 * where that is not possible: on other systems than Linux. The libraries are loaded here, because loading them needs
 * descriptors. A connection that the kernel hands over has had a second to send something (TCP_DEFER_ACCEPT), so what
 * is silent then is not a client that was just about to send its request.
 */
export function silentConnections(): EndSilentConnections | null {
  const libc = process.platform === 'linux' ? openLibc() : null;
  if (libc === null) return null;
  const nameBytes = new Uint8Array(128);
  const infoBytes = new Uint8Array(256);
  const name = new DataView(nameBytes.buffer);
  const info = new DataView(infoBytes.buffer);
  const length = new Uint32Array(1);
  const portOf = (descriptor: number): number | null => {
    length[0] = name.byteLength;
    if (libc.getsockname(descriptor, nameBytes, length) !== 0) return null;
    const family = name.getUint16(0, true);
    return family === AF_INET || family === AF_INET6 ? name.getUint16(2) : null;
  };
  const isSilent = (descriptor: number): boolean => {
    length[0] = info.byteLength;
    if (libc.getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, infoBytes, length) !== 0) return false;
    if (length[0] < BYTES_RECEIVED_AT + 8) return false;
    const received = info.getBigUint64(BYTES_RECEIVED_AT, true);
    return info.getUint8(0) === TCP_ESTABLISHED && received < SHORTEST_REQUEST_BYTES;
  };
  return (port, most) => {
    let ended = 0;
    for (let descriptor = FIRST; descriptor < most; descriptor++) {
      if (portOf(descriptor) !== port || !isSilent(descriptor)) continue;
      // Only Bun may close what it opened: it sees the end of the stream, and then does.
      if (libc.shutdown(descriptor, SHUT_RDWR) === 0) ended++;
    }
    return ended;
  };
}

function openLibc() {
  try {
    return dlopen('libc.so.6', {
      getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      shutdown: { args: ['i32', 'i32'], returns: 'i32' },
    }).symbols;
  } catch {
    return null;
  }
}
