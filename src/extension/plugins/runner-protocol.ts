// The protocol between the service and its plugin runner, over HTTP on the loopback address (docs/plugins.md). A call names a program that
// was sent before.
import { hexOf } from '../../kernel/text.ts'

/** The first part of every path. Change it whenever one side would misread the other. */
export const PROTOCOL = 'v1'

export const PATHS = { programs: `/${PROTOCOL}/programs`, calls: `/${PROTOCOL}/calls` } as const

export const HEADERS = {
  /** Key of the program (runner.ts), percent-encoded. */
  program: 'x-plugin-program',
  /** Each tenant has one call running at a time. */
  tenant: 'x-plugin-tenant',
  /** Milliseconds that the call may take, with its wait. */
  most: 'x-plugin-most-ms',
} as const

/** The runner does not have the program (any more): send it, and call again. */
export const PROGRAM_UNKNOWN = 412

/** Proves the service's identity to the runner. Each start has another secret, and no command line or file shows it. */
export async function runnerSecret(tokenSecret: string, start: string): Promise<string> {
  const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(tokenSecret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, bytes(`plugin runner ${start}`))
  return hexOf(signature)
}
