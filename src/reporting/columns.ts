// The columns of a report's lines: the policy, the dimensions, the currency, and the columns of the kind.
import { type Dimension, dimensionsOf } from './dimensions.ts'
import type {
  Cell,
  Column,
  ReportedPolicy,
  ReportKind,
  ReportLine,
  ReportParameters,
  ReportSurroundings,
} from './kind.ts'

const POLICY: Column = { name: 'policyLocator', type: 'text', about: 'The policy; empty for disbursements.' }
const CURRENCY: Column = { name: 'currency', type: 'text', about: 'Currency of all amounts of the line.' }

/** The layout of a report: its columns, and how to fill them. */
export type Layout = {
  readonly columns: readonly Column[]
  /** The number of columns that `by` adds. They follow the policy. */
  readonly dimensions: number
  /** The index of the currency. */
  readonly currency: number
  /** The indexes of the measures. */
  readonly measures: readonly number[]
  cellsOf(line: ReportLine, policy: ReportedPolicy): Cell[]
}

/** Rejects with 400 columns and dimensions that the report or the configuration does not have. */
export function layoutOf(
  kind: ReportKind,
  parameters: ReportParameters,
  surroundings: ReportSurroundings,
): Layout {
  const dimensions: Dimension[] = dimensionsOf(kind, parameters, surroundings)
  const own = kind.columns(parameters, surroundings)
  const columns = [POLICY, ...dimensions.map(({ column }) => column), CURRENCY, ...own]
  return {
    columns,
    dimensions: dimensions.length,
    currency: dimensions.length + 1,
    measures: [...columns.keys()].filter(at => columns[at]!.isMeasure),
    cellsOf: (line, policy) => [
      policy.policy ? String(policy.policy.locator) : '',
      ...dimensions.map(({ cellFor }) => cellFor(line, policy, surroundings)),
      line.currency,
      ...line.cells,
    ],
  }
}
