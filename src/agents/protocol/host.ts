// The interface between the protocol and the service: plain functions and data. It imports nothing of the service, since the
// protocol is a separate bundle (scripts/bundles.ts).

/** `path` comes from `pathOf`. */
export type Asked = {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object | undefined
  /** The token of a preview: the call does exactly what the preview showed, or nothing. */
  readonly ifPreviewed?: string | undefined
}

/** JSON of the interface. The tool that requests a record knows its shape. */
// biome-ignore lint/suspicious/noExplicitAny: every property is read by one tool, and what it shows is held against a schema.
export type Json = any

/** With a status below 400 `body` is the body of the answer, otherwise an ExceptionResponse. */
export type Answered = { readonly status: number; readonly body: Json; readonly requestId?: string }

/** One call that was previewed and leaves nothing to choose. */
export type Previewed = {
  readonly operation: string
  /** The subject for the audit trail: a locator, or the name of a product. */
  readonly subject: string
  readonly asked: Asked
}

export type Host = {
  readonly tenant: { readonly locator: string; readonly name: string; readonly type: string }
  readonly version: string
  /** Calls the interface with the agent's own token. */
  call(asked: Asked): Promise<Answered>
  /** Products with their fields, from the latest configuration. */
  products(): Promise<Answered>
  /** Keeps a preview for 15 minutes: `{ preview, expiresTimestamp }`. */
  keep(previewed: Previewed): Promise<Answered>
  /** Returns the call that was kept. Rejects with 409 a preview that is unknown, has expired, or belongs to another account. */
  take(preview: string): Promise<Answered>
  /** Writes the audit entry. Rejects with 409 a call that has already begun, where the call itself cannot detect that. */
  begin(preview: string, previewed: Previewed): Promise<Answered>
}

/** Builds a path of the interface. Rejects any value other than a locator or name, so that a value cannot lead to another path. */
export function pathOf(texts: TemplateStringsArray, ...values: readonly string[]): string {
  for (const value of values)
    if (!/^[\w-]{1,100}$/.test(value)) throw new Error(`'${value.slice(0, 100)}' is not allowed in a path.`)
  return String.raw({ raw: texts }, ...values)
}
