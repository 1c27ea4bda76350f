// The interface through which the sandbox reaches the outside. Its parts (realm.ts, loader.ts, api.ts) run inside it as text
// (source.ts).

type LimitName =
  | ('output' | 'turns' | 'logLines' | 'log' | 'writes' | 'written')
  | ('auxName' | 'auxValue' | 'eventData' | 'gathered' | 'gatheredRecords')
  | ('lookups' | 'notes' | 'explanation')

/** Everything that the sandbox gets from outside; it can reach nothing else. */
export type RealmHost = {
  /** The path of every script, with its problem if it cannot run. */
  readonly scripts: readonly { path: string; problem?: { message: string; line: number } }[]
  /** Returns the function of a script (script.ts), a new one that no earlier call has seen. */
  script(path: string): (...given: unknown[]) => void
  /** A row of a table; null if there is none, undefined if it must be fetched. */
  lookup(product: string, table: string, key: string): string | null | undefined
  /** Unpacks arguments that are not sent as JSON. */
  unpack?(packed: unknown): unknown
  readonly entities: readonly string[]
  /** Names of functions that may return nothing, which then becomes `null`. */
  readonly mayReturnNothing: readonly string[]
  /** Globals that scripts expect and do not find, with what to do instead. */
  readonly absentGlobals: Readonly<Record<string, string>>
  readonly limits: Readonly<Record<LimitName, number>>
}

/** Helpers of realm.ts for the other parts. They work even if a script changed the language. */
export type Basics = {
  empty<T>(): Record<string, T>
  append<T>(list: T[], value: T): void
  shown(value: unknown): string
}
