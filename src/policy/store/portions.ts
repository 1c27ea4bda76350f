// Work on all policies of a tenant goes over them a portion at a time.

/** As many of the rows as have no more perils together than the limit: one at least, however many it has. */
export function withinPerils<R extends { readonly perilCount: number }>(
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
