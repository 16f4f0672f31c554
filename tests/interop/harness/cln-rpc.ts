/** An error answer of Core Lightning. */
export class ClnRpcError extends Error {
  override readonly name = 'ClnRpcError';
  constructor(
    readonly method: string,
    readonly code: number,
    readonly reason: string,
    readonly data: unknown,
  ) {
    super(`Core Lightning answered ${code} to ${method}: ${reason}`);
  }
}

/** Makes one call and returns its result. Throws {@link ClnRpcError}. */
export type ClnRpc = <T = unknown>(method: string, params?: object) => Promise<T>;

interface Reply<T> {
  readonly result?: T;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * Calls Core Lightning over its Unix socket: without the sidecar and without clnrest, so that tests can compare, and
 * with no rune.
 */
export function clnRpc(socketPath: string): ClnRpc {
  return async <T>(method: string, params: object = {}) => {
    const { result, error } = await exchange<T>(socketPath, { method, params });
    if (error) throw new ClnRpcError(method, error.code, error.message, error.data);
    return result as T;
  };
}

async function exchange<T>(socketPath: string, request: object): Promise<Reply<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let received = '';
  const socket = await Bun.connect({
    unix: socketPath,
    socket: {
      data(_, bytes) {
        received += decoder.decode(bytes, { stream: true });
        // A reply ends with an empty line.
        if (received.endsWith('\n\n')) resolve(received);
      },
      error: (_, error) => reject(error),
      close: () => reject(new Error('Core Lightning closed the socket.')),
    },
  });
  try {
    socket.write(JSON.stringify({ jsonrpc: '2.0', id: 'tests', ...request }));
    return JSON.parse(await promise) as Reply<T>;
  } finally {
    socket.end();
  }
}
