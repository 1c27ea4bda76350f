// What a command is run with: where it writes, reads and looks things up. Tests hand in their own.
import type { Colors } from 'picocolors/types'

export type Terminal = {
  /** Results: text as it is, with its line ends. */
  out(text: string): void
  /** Everything else: progress, problems, questions. */
  err(text: string): void
  readonly input: NodeJS.ReadStream | (NodeJS.ReadableStream & { isTTY?: undefined })
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person watches `err`, so that a line may be written over. */
  readonly isWatched: boolean
  readonly colors: Colors
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal
}

/** What every command gets beside its own options. */
export type Run = {
  readonly terminal: Terminal
  readonly json: boolean
}

/** A line of JSON in the place of `text`, where `--json` asks for it. */
export function show({ terminal, json }: Run, value: unknown, text: () => string): void {
  terminal.out(json ? `${JSON.stringify(value)}\n` : text())
}

/** Words that only people read: left out where `--json` asks for data. */
export function say({ terminal, json }: Run, text: string): void {
  if (!json) terminal.err(text)
}

/** Resolves after the time, or at once when it is interrupted. */
export const pause = (ms: number, { interrupted }: Terminal): Promise<void> =>
  new Promise(done => {
    if (interrupted.aborted) return done()
    const ended = (): void => {
      clearTimeout(timer)
      interrupted.removeEventListener('abort', ended)
      done()
    }
    const timer = setTimeout(ended, ms)
    interrupted.addEventListener('abort', ended)
  })

/** Lets Ctrl-C arrive: work that waits for nothing outside would hold it back to its end. */
export const hearSignals = (): Promise<void> => new Promise(done => setImmediate(done))

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
