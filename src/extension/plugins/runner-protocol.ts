// The protocol between the service and its plugin runner, over HTTP on the loopback address (docs/plugins.md). A program is
// sent once and kept under its key; a call names it.

/** The first part of every path. Change it whenever one side would misread the other. */
export const PROTOCOL = 'v1'

export const PATHS = { programs: `/${PROTOCOL}/programs`, calls: `/${PROTOCOL}/calls` } as const

export const HEADERS = {
  /** Key of the program (runner.ts), percent-encoded. */
  program: 'x-plugin-program',
  /** The tenant of the call: each tenant has one call running at a time. */
  tenant: 'x-plugin-tenant',
  /** Milliseconds that the call may take, with its wait. */
  most: 'x-plugin-most-ms',
} as const

/** The runner does not have the program (any more): send it, and call again. */
export const PROGRAM_UNKNOWN = 412

/**
 * The service's proof of identity, made of a secret and the name of this start. Each start has another one, and no command line
 * or file shows it.
 */
export async function runnerSecret(tokenSecret: string, start: string): Promise<string> {
  const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(tokenSecret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, bytes(`plugin runner ${start}`))
  return [...new Uint8Array(signature)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}
