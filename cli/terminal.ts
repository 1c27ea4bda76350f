// The environment of a command: where it writes and reads. Tests pass their own.
import type { Colors } from 'picocolors/types'

export type Terminal = {
  /** Writes results: the text unchanged, with its line endings. */
  out(text: string): void
  /** Writes everything else: progress, problems, questions. */
  err(text: string): void
  readonly input: NodeJS.ReadStream | (NodeJS.ReadableStream & { isTTY?: undefined })
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a person watches `err`, so that a line may be overwritten. */
  readonly isWatched: boolean
  readonly colors: Colors
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal
}

/** What every command receives in addition to its own options. */
export type Run = {
  readonly terminal: Terminal
  readonly json: boolean
}

/** With `--json`, prints `value` as a line of JSON instead of `text`. */
export function show({ terminal, json }: Run, value: unknown, text: () => string): void {
  terminal.out(json ? `${JSON.stringify(value)}\n` : text())
}

/** Prints text that only people read. Omitted with `--json`. */
export function say({ terminal, json }: Run, text: string): void {
  if (!json) terminal.err(text)
}

/** Resolves after the time, or immediately when interrupted. */
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

/** Lets a signal arrive. Work that never waits for anything outside would delay Ctrl-C to its end. */
export const yieldToSignals = (): Promise<void> => new Promise(done => setImmediate(done))

const MOST_NAMED = 12

/** Lists the first names, and how many more there are. */
export const listNames = (names: readonly string[]): string =>
  names.length > MOST_NAMED
    ? `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`
    : names.join(', ')
