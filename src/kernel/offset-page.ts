// Pages of lists that clients ask for by offset and count (contract 2).

/** With `extended` the page tells whether anything follows. */
export type OffsetPage<T> = { listCompleted: boolean; items: T[] } | T[]

/** The page of rows that were asked for with one more than it has. */
export function offsetPage<Row, T>(
  rows: readonly Row[],
  { count, extended }: { readonly count: number; readonly extended: boolean },
  show: (row: Row) => T,
): OffsetPage<T> {
  const items = rows.slice(0, count).map(show)
  return extended ? { listCompleted: rows.length <= count, items } : items
}
