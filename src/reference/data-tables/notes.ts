// Notes on an uploaded table: problems, which reject it, and warnings (resources brief 1.2).
import { Refusal } from '../../kernel/errors.ts'

type TableProblem = {
  /** The first line of a row, counted from 1. */
  readonly line: number
  readonly message: string
  /** The column's name and the cell's text, if a single cell has the problem. */
  readonly column?: string
  readonly text?: string
}

/** The most problems, and the most warnings, that a response lists. */
export const MOST_NOTES = 50
const LONGEST_SHOWN = 60

export class Notes {
  readonly #problems: TableProblem[] = []
  readonly #warnings: TableProblem[] = []
  #warningCount = 0

  get problems(): readonly TableProblem[] {
    return this.#problems
  }

  /** Whether further checks are pointless. */
  get isFull(): boolean {
    return this.#problems.length >= MOST_NOTES
  }

  problem(line: number, message: string, cell?: { column: string; text: string }): void {
    if (!this.isFull) this.#problems.push({ line, message, ...(cell && shownCell(cell)) })
  }

  warn(line: number, message: string): void {
    this.#warningCount += 1
    if (this.#warnings.length < MOST_NOTES) this.#warnings.push({ line, message })
  }

  get sortedProblems(): readonly TableProblem[] {
    return this.#problems.toSorted((a, b) => a.line - b.line)
  }

  get warnings(): string[] {
    const shown = this.#warnings.map(noteText)
    const more = this.#warningCount - shown.length
    return more > 0 ? [...shown, `${more} more.`] : shown
  }
}

const shownCell = ({ column, text }: { column: string; text: string }) => ({
  column,
  text: text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN).toWellFormed()}…` : text,
})

const noteText = ({ line, message }: TableProblem): string => `Line ${line}: ${message}`

/** The error (400) for a table with problems, listed by line. */
export function invalidTable(notes: Notes): Refusal {
  const problems = notes.sortedProblems
  const more = notes.isFull ? ' Only the first problems are listed.' : ''
  return new Refusal('invalidTable', `${problems.map(noteText).join(' ')}${more}`, { tableErrors: problems })
}
