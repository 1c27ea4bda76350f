// Questions to a constraint table, answered all together in one pass over its rows, whatever their number: rows of a
// large table come in pieces and are not kept.
import { canonicalDecimal } from '../data-tables/values.ts'

/** How two texts are the same: to the letter, or as numbers, so that `1` is `1.0`. */
export type Comparison = 'text' | 'number' | 'truth'

/** `values`: the cell is one of them; none at all fit no row. */
export type Filter = { readonly column: string; readonly by: Comparison; readonly values: readonly string[] }

/** The values of `column` in the rows that every filter fits. */
export type Question = {
  readonly column: string
  readonly by: Comparison
  readonly where: readonly Filter[]
}

/** The text that all equal ones share. */
export function comparable(text: string, by: Comparison): string {
  if (by === 'number') return canonicalDecimal(text.trim()) ?? text
  return by === 'truth' ? text.toLowerCase() : text
}

type Answer = Map<string, string>

/** A question with several values for a column: the others are in its key. */
type Choice = { readonly answer: Answer; readonly any: readonly (readonly [Cell, ReadonlySet<string>])[] }

type Cell = { readonly at: number; readonly by: Comparison }

/** Questions that look at the same cells. */
type Look = { readonly value: Cell; readonly single: readonly Cell[]; readonly byKey: Map<string, Choice[]> }

const SEPARATOR = '\u0000'

/** One pass over a table: `take` each row, then `answers` in the order of the questions. */
export class TableScan {
  readonly #looks = new Map<string, Look>()
  readonly #answers: Answer[]

  /** The columns are those of the table, and have every column that the questions name. */
  constructor(columns: readonly string[], questions: readonly Question[]) {
    const asked = new Map<string, Answer>()
    this.#answers = questions.map(question => {
      const { column, by, where } = question
      const filters = where.map(one => ({
        cell: { at: columns.indexOf(one.column), by: one.by },
        values: [...new Set(one.values.map(value => comparable(value, one.by)))],
      }))
      const value = { at: columns.indexOf(column), by }
      const same = JSON.stringify([value, filters])
      const earlier = asked.get(same)
      if (earlier) return earlier
      const answer: Answer = new Map()
      asked.set(same, answer)
      if (filters.every(({ values }) => values.length > 0)) this.#ask(value, filters, answer)
      return answer
    })
  }

  #ask(value: Cell, filters: { cell: Cell; values: string[] }[], answer: Answer): void {
    const alone = filters.filter(({ values }) => values.length === 1)
    const single = alone.map(({ cell }) => cell)
    const several = filters.filter(({ values }) => values.length > 1)
    const looks = JSON.stringify([value, single])
    const look: Look = this.#looks.get(looks) ?? { value, single, byKey: new Map() }
    this.#looks.set(looks, look)
    const key = alone.map(({ values }) => values[0]).join(SEPARATOR)
    const choice = { answer, any: several.map(({ cell, values }) => [cell, new Set(values)] as const) }
    const choices = look.byKey.get(key)
    if (choices) choices.push(choice)
    else look.byKey.set(key, [choice])
  }

  take(cells: readonly string[]): void {
    const textOf = ({ at, by }: Cell): string => comparable(cells[at] ?? '', by)
    for (const { value, single, byKey } of this.#looks.values()) {
      const cell = cells[value.at]
      if (cell === undefined || cell === '') continue
      const choices = byKey.get(single.map(textOf).join(SEPARATOR))
      for (const { answer, any } of choices ?? []) {
        const same = comparable(cell, value.by)
        if (!answer.has(same) && any.every(([at, values]) => values.has(textOf(at)))) answer.set(same, cell)
      }
    }
  }

  /** Of each question the values in the order of the rows, without repeats, as the first row that has one writes it. */
  answers(): string[][] {
    return this.#answers.map(answer => [...answer.values()])
  }
}
