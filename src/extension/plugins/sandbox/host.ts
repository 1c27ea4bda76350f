// What the sandbox gets from outside. Its parts (realm.ts, loader.ts, api.ts) run inside it as text (source.ts).

type LimitName =
  | ('output' | 'turns' | 'logLines' | 'log' | 'writes' | 'written')
  | ('auxName' | 'auxValue' | 'eventData' | 'gathered' | 'gatheredRecords')
  | ('lookups' | 'notes' | 'explanation')

/** The sandbox gets this from outside; it can reach nothing else. */
export type RealmHost = {
  /** Paths of all scripts, with the problem of each that cannot run. */
  readonly scripts: readonly { path: string; problem?: { message: string; line: number } }[]
  /** The function of a script (script.ts), unseen by earlier calls. */
  script(path: string): (...given: unknown[]) => void
  /** A row of a table; null for none, undefined when it must be fetched. */
  lookup(product: string, table: string, key: string): string | null | undefined
  /** Reads arguments that are not sent as JSON. */
  unpack?(packed: unknown): unknown
  readonly entities: readonly string[]
  /** Functions that may return nothing, which then becomes `null`. */
  readonly mayReturnNothing: readonly string[]
  readonly limits: Readonly<Record<LimitName, number>>
}

/** Of realm.ts, for the other parts: it works even if a script changed the language. */
export type Basics = {
  empty<T>(): Record<string, T>
  append<T>(list: T[], value: T): void
  shown(value: unknown): string
}
