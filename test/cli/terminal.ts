// Runs a command in this process, with the test as its terminal.
import { Readable } from 'node:stream'
import pico from 'picocolors'
import { run } from '../../cli/main.ts'
import type { Terminal } from '../../cli/terminal.ts'

export type Ran = { exit: number; out: string; err: string }

export type RunOptions = {
  env?: Record<string, string>
  /** The piped input. */
  input?: string
  isWatched?: boolean
  isColored?: boolean
  interrupted?: AbortSignal
  /** Called with each text as it is written. */
  heard?: (text: string) => void
}

export async function binderyWith(options: RunOptions, ...argv: string[]): Promise<Ran> {
  const { env = {}, input = '', isWatched = false, isColored = false, heard } = options
  const written = { out: '', err: '' }
  const writer = (stream: 'out' | 'err') => (text: string) => {
    written[stream] += text
    heard?.(text)
  }
  const terminal: Terminal = {
    out: writer('out'),
    err: writer('err'),
    input: Readable.from([input]) as Terminal['input'],
    env,
    isWatched,
    colors: pico.createColors(isColored),
    interrupted: options.interrupted ?? new AbortController().signal,
  }
  const exit = await run(argv, terminal)
  return { exit, ...written }
}

export const bindery = (...argv: string[]): Promise<Ran> => binderyWith({}, ...argv)
