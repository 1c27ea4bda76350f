// The protocol between the service and its plugin runner: HTTP on the loopback address (docs/plugins.md). A call refers to a
// program that was sent before.
import { hexOf } from '../../../kernel/text.ts'

/** The first segment of every path. Change it when a change of the protocol would make one side misread the other. */
export const PROTOCOL = 'v1'

export const PATHS = { programs: `/${PROTOCOL}/programs`, calls: `/${PROTOCOL}/calls` } as const

export const HEADERS = {
  /** The key of the program (runner.ts), percent-encoded. */
  program: 'x-plugin-program',
  /** The tenant, because the runner runs one call of a tenant at a time. */
  tenant: 'x-plugin-tenant',
  /** Milliseconds that the call may take, including its wait in the queue. */
  most: 'x-plugin-most-ms',
} as const

/** The runner does not have the program, or no longer has it: send it, and repeat the call. */
export const PROGRAM_UNKNOWN = 412

/**
 * Proves to the runner that the caller is the service. Each start has a different secret, which appears on no command line and in
 * no file.
 */
export async function runnerSecret(tokenSecret: string, start: string): Promise<string> {
  const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(tokenSecret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, bytes(`plugin runner ${start}`))
  return hexOf(signature)
}
