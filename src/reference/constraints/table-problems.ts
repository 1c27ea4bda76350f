// The problems for which an upload of a table's file would be rejected, as far as the file alone shows them. Repeated keys and
// overlapping ranges are found in the database.
import { isRefused } from '../../kernel/errors.ts'
import type { TableFile } from '../../product/check/strict/analysis.ts'
import { beginsLikeZip } from '../data-tables/csv-source.ts'
import { TableReading } from '../data-tables/reading.ts'
import { ConstraintReading } from './reading.ts'

type Problem = { readonly line: number; readonly message: string }

/** Returns the problems of a CSV file in the order of its lines. A zip is not read and has none. */
export function problemsOfTable({ type, staticName, declarations, bytes }: TableFile): readonly Problem[] {
  const file = bytes()
  if (beginsLikeZip(file)) return []
  const reading =
    type === 'constraintTable'
      ? new ConstraintReading(declarations?.constraintTables[staticName])
      : new TableReading(type, declarations?.[`${type}s`][staticName])
  try {
    reading.readWhole(file)
  } catch (problem) {
    if (!isRefused(problem)) throw problem
    return [{ line: 1, message: problem.message }]
  }
  return reading.notes.sortedProblems
}
