// Work on all policies of a tenant processes them a portion at a time.

/** Returns the first rows that together have no more perils than the limit, but always at least one row. */
export function rowsWithinPerilLimit<R extends { readonly perilCount: number }>(
  rows: readonly R[],
  most: number,
): readonly R[] {
  let perils = 0
  const end = rows.findIndex((one, at) => {
    perils += one.perilCount
    return at > 0 && perils > most
  })
  return end < 0 ? rows : rows.slice(0, end)
}
