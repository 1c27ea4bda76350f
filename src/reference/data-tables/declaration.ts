// Tables as config.json declares them by their static names (resources brief 1.1).
import type { Instant } from '../../kernel/time.ts'
import type { ColumnType } from './values.ts'

/** Which of a policy's times decides the contents in force. */
export const SELECTION_TIME_BASES = [
  'policyStartTime',
  'termStartTime',
  'transactionEffectiveTime',
  'currentTime',
] as const
export type SelectionTimeBasis = (typeof SELECTION_TIME_BASES)[number]

/** When and where a transaction is: which contents of a table are in force for it (policy/selection-basis.ts). */
export type SelectionBasis = Readonly<Record<SelectionTimeBasis, Instant>> & {
  readonly jurisdiction?: string | undefined
}

/** Where nothing but the present is known, as of an account, which has no jurisdiction. */
export const allAt = (at: Instant): SelectionBasis => ({
  policyStartTime: at,
  termStartTime: at,
  transactionEffectiveTime: at,
  currentTime: at,
})

export type DeclaredColumn = { name: string; dataType: ColumnType; isKey: boolean }

/** A data table. Columns in the order in which they are declared, which is that of its keys. */
export type TableDeclaration = { columns: DeclaredColumn[]; selectionTimeBasis: SelectionTimeBasis }

/** A range table: `rangeStart` and `rangeEnd` name columns of its own. */
export type RangeTableDeclaration = TableDeclaration & { rangeStart: string; rangeEnd?: string }

export type ConstraintTableDeclaration = {
  columns: { name: string; dataType: ColumnType; makeDistinct: boolean }[]
  selectionTimeBasis: SelectionTimeBasis
}

/** What config.json says of resources, by static name. */
export type ResourceDeclarations = {
  tables: Record<string, TableDeclaration>
  rangeTables: Record<string, RangeTableDeclaration>
  constraintTables: Record<string, ConstraintTableDeclaration>
  /** Snippets that are read for another time than the template that includes them. */
  templateSnippets?: Record<string, SnippetDeclaration>
}

export type SnippetDeclaration = { selectionTimeBasis: SelectionTimeBasis }
