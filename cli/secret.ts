// Reads a password or token without showing it, or from a pipe. Never reads it from the command line, which others can see.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { EXIT, Failure, usage } from './exit.ts'
import type { Terminal } from './terminal.ts'

/** Returns the text typed at the prompt, or the first line of piped input. */
export async function readSecret(label: string, { input, err, interrupted }: Terminal): Promise<string> {
  const isAsked = input.isTTY === true
  if (isAsked) err(`${label}: `)
  // Typed text is not echoed.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output, terminal: isAsked })
  try {
    const secret = await new Promise<string>((done, fail) => {
      lines.once('line', done)
      lines.once('close', () => done(''))
      const stop = (): void => fail(new Failure(EXIT.interrupted, 'Interrupted.'))
      lines.once('SIGINT', stop)
      interrupted.addEventListener('abort', stop, { once: true })
    })
    if (isAsked) err('\n')
    if (secret.trim() === '')
      throw usage(`No ${label.toLowerCase()} was given. Type it at the prompt, or pipe it in.`)
    return secret.replace(/\r$/, '')
  } finally {
    lines.close()
  }
}
