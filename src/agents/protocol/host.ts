// What the protocol's side gets of the service: plain functions and data. Nothing of the service is imported here, since this side is
// a bundle of its own (scripts/bundles.ts).

/** `path` from `pathOf`. */
export type Asked = {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object | undefined
  /** The token of a preview: the call does what that showed, or nothing. */
  readonly ifPreviewed?: string | undefined
}

/** JSON of the interface: a record's shape is known to the tool that asked for it. */
// biome-ignore lint/suspicious/noExplicitAny: every property is read by one tool, and what it shows is held against a schema.
export type Json = any

/** A status below 400 has the body of the answer, any other an ExceptionResponse. */
export type Answered = { readonly status: number; readonly body: Json; readonly requestId?: string }

/** One call that was previewed, with nothing left to choose. */
export type Previewed = {
  readonly operation: string
  /** What it is about, for the audit trail: a locator, or the name of a product. */
  readonly subject: string
  readonly asked: Asked
}

export type Host = {
  readonly tenant: { readonly locator: string; readonly name: string; readonly type: string }
  readonly version: string
  /** Calls the interface with the agent's own token. */
  call(asked: Asked): Promise<Answered>
  /** Products with their fields, of the latest configuration. */
  products(): Promise<Answered>
  /** Keeps a preview for 15 minutes: `{ preview, expiresTimestamp }`. */
  keep(previewed: Previewed): Promise<Answered>
  /** The call that was kept; refuses (409) one of another account, that has expired, or that is unknown. */
  take(preview: string): Promise<Answered>
  /** Writes the audit entry. Refuses (409) a call that was begun before, where the call itself cannot. */
  begin(preview: string, previewed: Previewed): Promise<Answered>
}

/** A path of the interface; refuses what is no locator or name, so that a value cannot lead to another path. */
export function pathOf(texts: TemplateStringsArray, ...values: readonly string[]): string {
  for (const value of values)
    if (!/^[\w-]{1,100}$/.test(value)) throw new Error(`'${value.slice(0, 100)}' cannot be a part of a path.`)
  return String.raw({ raw: texts }, ...values)
}
