// The globals of plugin scripts in addition to the language. sandbox/api.ts implements them, and `bindery types` declares them to
// authors.

/** The entities that `fetchByLocator` can read. Each is also a constant of that name. */
export const ENTITIES = [
  'Policy',
  'Policyholder',
  'Endorsement',
  'Renewal',
  'Cancellation',
  'Reinstatement',
  'Invoice',
] as const

export type Fetchable = (typeof ENTITIES)[number]

/** The functions of `socotraApi`. */
export const SCRIPT_FUNCTIONS: readonly string[] = Object.keys({
  tableLookup: true,
  rangeLookup: true,
  fetchByLocator: true,
  getAuxData: true,
  getSecret: true,
  setAuxData: true,
  deleteAuxData: true,
  createCustomEvent: true,
  explain: true,
} satisfies Record<keyof SocotraApi, true>)

/** A record as the HTTP interface shows it. */
type FetchedRecord<_Kind extends Fetchable> = { readonly [property: string]: unknown }

/** How a range table is asked: for the row around a number, a neighbouring row, or a value between rows. */
export type RangeOperation = 'record' | 'lowerAdjacent' | 'upperAdjacent' | 'interpolate' | 'extrapolate'

/** How to compute a column between two rows. A column that is left out has the value of the lower row. */
export type RangeColumn = 'linear' | 'stepUp' | 'stepDown'

/**
 * Every function is synchronous. A value that is not available yet is fetched, and the plugin's function is called again from the
 * start.
 */
export type SocotraApi = {
  /**
   * Returns a value of a table in force, or else of the configuration's table, as text; empty if there is none.
   * @param version Ignored; older scripts pass 0.
   * @param key The key. For a table with several keys, a list of them in the order of their declaration.
   * @param column If left out or null: `value`, or the only column that is not a key. Older scripts pass `asOf` here.
   * @param asOf The time at which the table is in force, in milliseconds. If left out: the time of the transaction.
   */
  tableLookup(
    version: unknown,
    table: string,
    key: string | number | readonly (string | number)[],
    column?: string | number | Date | null,
    asOf?: string | number | Date | null,
  ): string
  /**
   * Returns the columns of a row of a range table in force, as text by name; null if there is none.
   * @param keys Values of the key columns, in their order; empty for a table without keys.
   * @param bound The number to look for, preferably as text.
   * @param operation If left out: `record`.
   */
  rangeLookup(
    table: string,
    keys: readonly (string | number)[],
    bound: string | number,
    operation?: RangeOperation,
    columns?: { readonly [column: string]: RangeColumn },
  ): { readonly [column: string]: string } | null
  /** Returns a stored record as `GET` shows it, with numbers as text; null if there is none. */
  fetchByLocator<Kind extends Fetchable>(entity: Kind, locator: string): FetchedRecord<Kind> | null
  /** Returns the text stored under a locator; empty if there is none. */
  getAuxData(locator: string, key: string): string
  /** Returns an item of the secret in force now; null if there is none. Each read appears in the audit trail. */
  getSecret(staticName: string, item: string): string | number | boolean | null
  /**
   * Stores text under a locator, together with the transaction or not at all. Pass objects through `JSON.stringify`.
   * @param uiType If left out: `normal`.
   */
  setAuxData(
    locator: string,
    key: string,
    value: string | number | boolean | null,
    uiType?: 'normal' | 'hidden' | 'readonly',
  ): void
  /** Removes text stored under a locator, together with the transaction or not at all. Does nothing if there is none. */
  deleteAuxData(locator: string, key: string): void
  /** Emits an event to the stream and to webhooks. Its type begins with `custom.`. */
  createCustomEvent(type: string, data?: { readonly [name: string]: unknown }): void
  /**
   * Adds a line to the rating worksheet: the meaning of a figure, and the figure. Does nothing unless a worksheet is requested.
   * @param value Text, a number, or anything else, which is shown as JSON.
   */
  explain(label: string, value: unknown): void
}
