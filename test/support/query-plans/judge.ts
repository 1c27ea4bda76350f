// Judges whether SQLite reads the JSON of a parameter once, or once for each row of something else. In the latter case, a
// statement with n values over n rows takes n² steps, and no limit on its input helps.

/** A row of `explain query plan`. */
export type PlanRow = { readonly id: number; readonly parent: number; readonly detail: string }

/** `json_each(?)`, with the name that the plan uses for it. */
const PARAMETER = /\bjson_each\(\s*\?\d*\s*(?:,[^)]*)?\)(?:\s+as)?\s*("?)(\w*)\1/gi
/** Words that may follow a table without an alias. */
const NOT_A_NAME =
  /^(?:where|join|cross|left|inner|on|order|group|limit|union|as|using|returning|except|set|natural)?$/i

/** The names that the plan uses for the JSON of parameters. */
export function parameterNames(text: string): Set<string> {
  return new Set(
    [...text.matchAll(PARAMETER)].map(([, , name]) => (NOT_A_NAME.test(name!) ? 'json_each' : name!)),
  )
}

/** The steps of the plan that read the JSON of a parameter again for each row of something else. */
export function repeatedReads(text: string, plan: readonly PlanRow[]): string[] {
  const names = parameterNames(text)
  const byId = new Map(plan.map(row => [row.id, row]))
  const isRepeated = (row: PlanRow): boolean => {
    const parent = byId.get(row.parent)
    if (isInnerLoop(row, plan)) return true
    return parent !== undefined && (/^CORRELATED/.test(parent.detail) || isCorrelatedAbove(parent, byId))
  }
  return plan
    .filter(row => {
      const read = /^SCAN (\S+)(?: EXISTS)? VIRTUAL TABLE/.exec(row.detail)?.[1]
      return read !== undefined && names.has(read) && isRepeated(row)
    })
    .map(row => row.detail)
}

/** The loops of a query are nested in the order in which the plan lists them. */
const isInnerLoop = (row: PlanRow, plan: readonly PlanRow[]): boolean =>
  plan.slice(0, plan.indexOf(row)).some(one => one.parent === row.parent && isLoop(one))

/** Whether the step can return more than one row. A search by the table's own key finds at most one. */
const isLoop = ({ detail }: PlanRow): boolean =>
  /^(?:SCAN|SEARCH) /.test(detail) && !/ USING INTEGER PRIMARY KEY \(rowid=\?\)/.test(detail)

/** A list inside a correlated query that is not itself correlated is only built once. */
function isCorrelatedAbove(row: PlanRow, byId: ReadonlyMap<number, PlanRow>): boolean {
  if (/^(?:LIST|SCALAR) SUBQUERY|^MATERIALIZE/.test(row.detail)) return false
  const above = byId.get(row.parent)
  return /^CORRELATED/.test(row.detail) || (above !== undefined && isCorrelatedAbove(above, byId))
}
