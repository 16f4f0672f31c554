import { WalletSidecar } from 'wallet-sidecar';

const url = process.env.SIDECAR_URL ?? 'http://127.0.0.1:5393';
const credentials = process.env.SIDECAR_CREDENTIALS;

/** The wallet of the examples: SIDECAR_URL says where the sidecar is, SIDECAR_CREDENTIALS as whom to call it. */
export const wallet = walletOf(credentials);

/** The wallet that other credentials name, on the same sidecar. */
export function walletOf(credentials: string | undefined): WalletSidecar {
  return new WalletSidecar({ url, credentials });
}

/**
 * Calls a control of the sandbox, whose outside world plays customers and payees. With `--require-auth` the sandbox
 * takes that only from credentials that may do everything.
 */
export async function sandbox(control: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(`${url}/sandbox/${control}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credentials ? { authorization: `Bearer ${credentials}` } : {}),
    },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, string>;
  if (response.ok) return answer;
  throw new Error(answer.msg);
}
