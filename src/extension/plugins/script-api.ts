// What scripts of plugins find beside the language: sandbox/api.ts makes it, and `bindery types` declares it to authors.

/** What `fetchByLocator` knows; each is a constant of its name. */
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

/** A record of the interface. */
type FetchedRecord<_Kind extends Fetchable> = { readonly [property: string]: unknown }

/** How a range table is asked: for the row around a number, a neighbour of it, or something between. */
export type RangeOperation = 'record' | 'lowerAdjacent' | 'upperAdjacent' | 'interpolate' | 'extrapolate'

/** How a column is worked out between two rows; one that is left out is as in the lower row. */
export type RangeColumn = 'linear' | 'stepUp' | 'stepDown'

/** All of it is synchronous. What is not at hand is fetched, and the function called again from the start. */
export type SocotraApi = {
  /**
   * The value of a table in force, else of the configuration's, as text; empty where there is none.
   * @param version Is not looked at; older scripts pass 0.
   * @param key The key; of a table with several, the list of them in the order in which they are declared.
   * @param column Left out, or null: `value`, or the only column that is no key. Older scripts give `asOf` here.
   * @param asOf The time, in milliseconds, at which a table is in force. Left out: that of the transaction.
   */
  tableLookup(
    version: unknown,
    table: string,
    key: string | number | readonly (string | number)[],
    column?: string | number | Date | null,
    asOf?: string | number | Date | null,
  ): string
  /**
   * The columns of a row of a range table in force, each as text by its name; null where there is none.
   * @param keys Values of the key columns, in their order; empty for a table without keys.
   * @param bound The number to look for, best as text.
   * @param operation Left out: `record`.
   */
  rangeLookup(
    table: string,
    keys: readonly (string | number)[],
    bound: string | number,
    operation?: RangeOperation,
    columns?: { readonly [column: string]: RangeColumn },
  ): { readonly [column: string]: string } | null
  /** A stored record as `GET` shows it, with numbers as text; null where there is none. */
  fetchByLocator<Kind extends Fetchable>(entity: Kind, locator: string): FetchedRecord<Kind> | null
  /** Text that was stored under a locator; empty where there is none. */
  getAuxData(locator: string, key: string): string
  /** An item of the secret in force now; null where there is none. Each read is in the audit trail. */
  getSecret(staticName: string, item: string): string | number | boolean | null
  /**
   * Stores text under a locator, with the transaction or not at all. Of an object give what `JSON.stringify` makes of it.
   * @param uiType Left out: `normal`.
   */
  setAuxData(
    locator: string,
    key: string,
    value: string | number | boolean | null,
    uiType?: 'normal' | 'hidden' | 'readonly',
  ): void
  /** Removes text that is stored under a locator, with the transaction or not at all. Nothing happens where there is none. */
  deleteAuxData(locator: string, key: string): void
  /** An event of the stream and of webhooks. Its type begins with `custom.`. */
  createCustomEvent(type: string, data?: { readonly [name: string]: unknown }): void
  /**
   * A line of the rating worksheet: what a figure is, and the figure. Does nothing where nobody asks for a worksheet.
   * @param value Text, a number, or anything else, which is shown as JSON.
   */
  explain(label: string, value: unknown): void
}
