// The values that constrained fields may have (resources brief 3), for stored values and for values that a client assumes. Apart
// from reading tables it has no side effects.
import type { FieldDefinition } from '../../product/configuration.ts'
import { governorOf, type Scope } from '../../product/constraint-graph.ts'
import { type FieldValues, valuesOf } from '../../product/fields/values.ts'
import type { ColumnType } from '../../product/resources.ts'
import { canonicalDecimal } from '../data-tables/values.ts'

/** Values and their definitions, of a policy, an exposure, a peril, a policyholder, or a group in one of them. */
export type Element = Scope & {
  /** The contract's static locator, which stays the same through all transactions. */
  readonly locator: string
  readonly values: FieldValues
  readonly outer?: Element | undefined
}

type FieldAt = { readonly element: Element; readonly field: FieldDefinition }

/** A column of the table and the field that governs it. The `fixed` values apply while the field has no value. */
type Governor = {
  readonly column: string
  readonly governor?: FieldAt | undefined
  readonly fixed: readonly string[]
}

export type ConstrainedField = FieldAt & {
  readonly table: string
  readonly column: string
  readonly where: readonly Governor[]
}

/** Returns the fields with a constraint, in the order of their elements. A column with fixed values has no governor. */
export function constrainedFields(elements: readonly Element[]): ConstrainedField[] {
  return elements.flatMap(element =>
    element.fields.flatMap((field): ConstrainedField[] => {
      if (!field.constraint) return []
      const { table, column, where } = field.constraint
      return [
        {
          element,
          field,
          table,
          column,
          where: where.map(({ column: at, key, values }) => {
            const found = key === undefined ? undefined : governorOf(element, key)
            return {
              column: at,
              governor: found && { element: found.scope, field: found.field },
              fixed: values,
            }
          }),
        },
      ]
    }),
  )
}

/** Values to assume, by constrained field and column of its table. Empty text means that the governing field is unset. */
type Assumptions = ReadonlyMap<ConstrainedField, ReadonlyMap<string, string>>

export type ConstraintTable = {
  typeOf(column: string): ColumnType
  /** Answers questions. Rejects with 409 a column that the table does not have. */
  ask(questions: readonly Question[]): Promise<readonly (readonly string[])[]>
}

export type TableOf = (staticName: string) => ConstraintTable

const nameOf = ({ element, field }: FieldAt): string => `${element.locator}\u0000${field.name}`

/**
 * Returns the values that each field may have, without repeats, in the order of the table's rows. An assumed value replaces the
 * stored one. A column that has neither, and no fixed values, does not restrict the rows.
 *
 * Fields in one request form a chain. A value assumed for one field's governor applies to all fields that it governs. If that rules
 * out a governor's own stored value, the fields below it get the options for all values that the governor may then have.
 */
export async function allowedValues(
  asked: readonly ConstrainedField[],
  assumptions: Assumptions,
  tableOf: TableOf,
): Promise<Map<ConstrainedField, readonly string[]>> {
  const chain = new Chain(asked, assumptions)
  for (let unanswered = [...asked]; unanswered.length > 0; ) {
    const ready = unanswered.filter(one => chain.isReady(one))
    // A configuration with a circle cannot be deployed. If there is one nevertheless, its fields use the stored values.
    const next = ready.length > 0 ? ready : unanswered
    const answers = await answersOf(next, one => chain.filters(one, tableOf), tableOf)
    for (const [index, one] of next.entries()) chain.addAnswer(one, answers[index]!)
    unanswered = unanswered.filter(one => !chain.answers.has(one))
  }
  return chain.answers
}

async function answersOf(
  fields: readonly ConstrainedField[],
  filtersOf: (field: ConstrainedField) => readonly Filter[],
  tableOf: TableOf,
): Promise<(readonly string[])[]> {
  const answers: (readonly string[])[] = fields.map(() => [])
  const byTable = Map.groupBy(fields.entries(), ([, one]) => one.table)
  for (const [table, ofTable] of byTable) {
    const questions = ofTable.map(([, one]) => ({
      column: one.column,
      by: comparisonOf(tableOf, one, one.column, one.field),
      where: filtersOf(one),
    }))
    const results = await tableOf(table).ask(questions)
    for (const [at, [index]] of ofTable.entries()) answers[index] = results[at]!
  }
  return answers
}

/** Compares numbers by value only if the column or the field is declared as numeric: `01234` may be a postal code. */
export function comparisonOf(
  tableOf: TableOf,
  { table }: Pick<ConstrainedField, 'table'>,
  column: string,
  field: FieldDefinition | undefined,
): Comparison {
  const type = tableOf(table).typeOf(column)
  if (type === 'boolean') return 'truth'
  return field?.type === 'number' || type === 'int' || type === 'long' || type === 'decimal'
    ? 'number'
    : 'text'
}

class Chain {
  readonly answers = new Map<ConstrainedField, readonly string[]>()
  readonly #assumptions: Assumptions
  readonly #byName: ReadonlyMap<string, ConstrainedField>
  /** The value assumed for each governing field; null if two fields assume different values. */
  readonly #assumedByGovernor = new Map<string, string | null>()
  /** Fields whose answer depends on an assumption. */
  readonly #affected = new Set<ConstrainedField>()

  constructor(asked: readonly ConstrainedField[], assumptions: Assumptions) {
    this.#assumptions = assumptions
    this.#byName = new Map(asked.map(one => [nameOf(one), one]))
    for (const [field, columns] of assumptions)
      for (const { column, governor } of field.where) {
        const value = columns.get(column)
        if (value === undefined || !governor) continue
        const name = nameOf(governor)
        const present = this.#assumedByGovernor.get(name)
        this.#assumedByGovernor.set(name, present === undefined || present === value ? value : null)
      }
  }

  /** Whether all governing fields in the chain have answers. */
  isReady(field: ConstrainedField): boolean {
    if (this.#assumptions.size === 0) return true
    return field.where.every(({ governor }) => {
      const other = governor && this.#byName.get(nameOf(governor))
      return !other || other === field || this.answers.has(other)
    })
  }

  addAnswer(field: ConstrainedField, values: readonly string[]): void {
    this.answers.set(field, values)
  }

  filters(field: ConstrainedField, tableOf: TableOf): Filter[] {
    return field.where.flatMap((one): Filter[] => {
      const by = comparisonOf(tableOf, field, one.column, one.governor?.field)
      const values = this.#valuesFor(field, one)
      return values === undefined ? [] : [{ column: one.column, by, values }]
    })
  }

  /** The permitted values of a column: undefined permits every row, an empty list none. */
  #valuesFor(field: ConstrainedField, { column, governor, fixed }: Governor): readonly string[] | undefined {
    const orFixed = (values: readonly string[]): readonly string[] | undefined =>
      [values, fixed].find(one => one.length > 0)
    if (!governor) return orFixed([])
    const assumed = this.#assumptions.get(field)?.get(column) ?? this.#assumedByGovernor.get(nameOf(governor))
    if (typeof assumed === 'string') {
      this.#affected.add(field)
      return orFixed(assumed === '' ? [] : [assumed])
    }
    const stored = valuesOf(governor.element.values, governor.field.name)
    const above = this.#byName.get(nameOf(governor))
    const allowed = above && this.#affected.has(above) ? this.answers.get(above) : undefined
    if (!allowed) return orFixed(stored)
    const by = governor.field.type === 'number' ? 'number' : 'text'
    const possible = new Set(allowed.map(value => comparable(value, by)))
    const remaining = stored.filter(value => possible.has(comparable(value, by)))
    if (remaining.length === 0 || remaining.length < stored.length) this.#affected.add(field)
    return remaining.length > 0 ? remaining : allowed
  }
}

// Answers all questions with one pass over the rows of a constraint table. The rows of a large table come in pieces and are not
// kept.

/** How two texts are compared: exactly, as numbers (`1` equals `1.0`), or as booleans. */
export type Comparison = 'text' | 'number' | 'truth'

/** The cell must be one of the `values`. An empty list matches no row. */
export type Filter = { readonly column: string; readonly by: Comparison; readonly values: readonly string[] }

/** Requests the values of `column` in the rows that match every filter. */
export type Question = {
  readonly column: string
  readonly by: Comparison
  readonly where: readonly Filter[]
}

/** Normalizes a text, so that equal values have the same result. */
export function comparable(text: string, by: Comparison): string {
  if (by === 'number') return canonicalDecimal(text.trim()) ?? text
  return by === 'truth' ? text.toLowerCase() : text
}

type Answer = Map<string, string>

/** A question with several values for at least one column. Its other filters are in the key. */
type Choice = { readonly answer: Answer; readonly any: readonly (readonly [Cell, ReadonlySet<string>])[] }

type Cell = { readonly at: number; readonly by: Comparison }

/** Questions that read the same cells. */
type QuestionGroup = {
  readonly value: Cell
  readonly single: readonly Cell[]
  readonly byKey: Map<string, Choice[]>
}

const SEPARATOR = '\u0000'

/** One pass over a table: call `take` for each row, and then `answers`, which are in the order of the questions. */
export class TableScan {
  readonly #groups = new Map<string, QuestionGroup>()
  readonly #answers: Answer[]

  /** `columns` must contain every column that the questions name. */
  constructor(columns: readonly string[], questions: readonly Question[]) {
    const answersByQuestion = new Map<string, Answer>()
    this.#answers = questions.map(question => {
      const { column, by, where } = question
      const filters = where.map(one => ({
        cell: { at: columns.indexOf(one.column), by: one.by },
        values: [...new Set(one.values.map(value => comparable(value, one.by)))],
      }))
      const value = { at: columns.indexOf(column), by }
      const questionKey = JSON.stringify([value, filters])
      const earlier = answersByQuestion.get(questionKey)
      if (earlier) return earlier
      const answer: Answer = new Map()
      answersByQuestion.set(questionKey, answer)
      if (filters.every(({ values }) => values.length > 0)) this.#ask(value, filters, answer)
      return answer
    })
  }

  #ask(value: Cell, filters: { cell: Cell; values: string[] }[], answer: Answer): void {
    const singleFilters = filters.filter(({ values }) => values.length === 1)
    const single = singleFilters.map(({ cell }) => cell)
    const otherFilters = filters.filter(({ values }) => values.length > 1)
    const groupKey = JSON.stringify([value, single])
    const group: QuestionGroup = this.#groups.get(groupKey) ?? { value, single, byKey: new Map() }
    this.#groups.set(groupKey, group)
    const key = singleFilters.map(({ values }) => values[0]).join(SEPARATOR)
    const choice = { answer, any: otherFilters.map(({ cell, values }) => [cell, new Set(values)] as const) }
    const choices = group.byKey.get(key)
    if (choices) choices.push(choice)
    else group.byKey.set(key, [choice])
  }

  take(cells: readonly string[]): void {
    const textOf = ({ at, by }: Cell): string => comparable(cells[at] ?? '', by)
    for (const { value, single, byKey } of this.#groups.values()) {
      const cell = cells[value.at]
      if (cell === undefined || cell === '') continue
      const choices = byKey.get(single.map(textOf).join(SEPARATOR))
      for (const { answer, any } of choices ?? []) {
        const same = comparable(cell, value.by)
        if (!answer.has(same) && any.every(([at, values]) => values.has(textOf(at)))) answer.set(same, cell)
      }
    }
  }

  /** The values for each question, without repeats, in row order, as spelled in the first row that contains them. */
  answers(): string[][] {
    return this.#answers.map(answer => [...answer.values()])
  }
}
