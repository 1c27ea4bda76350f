import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { Refusal } from '../../src/kernel/errors.ts'
import { dayStart, type Instant, isoDay, now as realTime, type TimeZone } from '../../src/kernel/time.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import type { Compared } from '../../src/servicing/impact/comparison.ts'
import { type GroupingField, requestedFields } from '../../src/servicing/impact/groups.ts'
import { csvHead, csvRow } from '../../src/servicing/impact/report/csv.ts'
import { impactPage } from '../../src/servicing/impact/report/page.ts'
import { impactText } from '../../src/servicing/impact/report/text.ts'
import { type Head, policiesText } from '../../src/servicing/impact/report/words.ts'
import { quantile } from '../../src/servicing/impact/totals.ts'
import { readConfiguration } from '../configuration-source.ts'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { readBook } from '../offline/book.ts'
import { offlineImpact } from '../offline/impact.ts'
import { type Run, say, show } from '../terminal.ts'

export type ImpactOptions = {
  book: string
  at: string
  old?: string
  day?: string
  by?: string
  csv?: string
  html?: string
}

/** `bindery impact NEW --book FILE`: shows what another configuration would charge the policies of a book. */
export async function impact(source: string, options: ImpactOptions, run: Run): Promise<ExitCode> {
  const { at: occasion } = options
  if (occasion !== 'renewal' && occasion !== 'day') throw usage("--at must be 'renewal' or 'day'.")
  const changed = await readConfiguration(source, run)
  const present = options.old === undefined ? undefined : await readConfiguration(options.old, run)
  const { timeZone, currency } = changed.configuration
  const { day, text: dayText } = dayOf(options.day, timeZone)
  const fields = fieldsOf(changed.configuration, options.by)
  const csv = options.csv === undefined ? undefined : new CsvFile(options.csv, fields, changed.configuration)
  const book = readBook(options.book, (present ?? changed).configuration, day)
  const progress = progressOf(run)
  const asked = {
    old: present?.configuration,
    new: changed.configuration,
    fields,
    question: { occasion, day } as const,
  }
  const { interrupted } = run.terminal
  try {
    const { totals, notes } = await offlineImpact(
      book,
      asked,
      (one, { policies }) => {
        if (typeof one !== 'string') csv?.add(one)
        progress(policies)
      },
      () => interrupted.aborted,
    )
    progress(undefined)
    if (interrupted.aborted) return EXIT.interrupted
    const head: Head = {
      occasion,
      day: dayText,
      currency,
      bookName: basename(options.book),
      newName: changed.name,
      oldName: present?.name ?? 'the recorded prices',
      madeOn: isoDay(realTime(), timeZone),
    }
    if (options.html !== undefined) writeFileSync(options.html, impactPage(totals, head, titlesOf(fields)))
    const { percents, amounts } = totals
    const medians = { medianPercent: tenth(quantile(percents, 0.5)), medianChange: quantile(amounts, 0.5) }
    show(run, { ok: true, ...head, ...medians, totals, notes }, () => impactText(totals, head, notes))
    return EXIT.ok
  } finally {
    csv?.close()
  }
}

const tenth = (tenths: number | undefined): number | undefined =>
  tenths === undefined ? undefined : tenths / 10

const titlesOf = (fields: readonly GroupingField[]): Map<string, string> =>
  new Map(
    fields.map(({ id, definition, exposure, peril }) => [
      id,
      [peril ?? exposure, definition.title].filter(Boolean).join(': '),
    ]),
  )

/** Returns the start of the day in the zone. The default is today. */
export function dayOf(asked: string | undefined, zone: TimeZone): { day: Instant; text: string } {
  const text = asked ?? isoDay(realTime(), zone)
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? dayStart(text, zone) : undefined
  if (day === undefined) throw usage(`'${text}' is not a day. Write it as 2027-01-01.`)
  return { day, text }
}

function fieldsOf(
  configuration: Parameters<typeof requestedFields>[0],
  by: string | undefined,
): GroupingField[] {
  try {
    return requestedFields(
      configuration,
      by?.split(',').map(name => name.trim()),
    )
  } catch (problem) {
    if (problem instanceof Refusal) throw usage(problem.message)
    throw problem
  }
}

const SHOWN_EVERY = 100

/** Shows how many policies have been compared. Undefined ends the line. */
function progressOf(run: Run): (policies: number | undefined) => void {
  let shown = 0
  const { isWatched } = run.terminal
  return policies => {
    if (!isWatched) return
    if (policies === undefined) {
      if (shown > 0) say(run, '\n')
    } else if (policies - shown >= SHOWN_EVERY) {
      shown = policies
      say(run, `\r\u001b[2K${policiesText(policies)}`)
    }
  }
}

/** Rows are written in groups of this size. */
const ROWS_AT_ONCE = 500

class CsvFile {
  readonly #fields: readonly GroupingField[]
  readonly #configuration: Pick<Configuration, 'currency' | 'timeZone'>
  readonly #file: number
  #rows: string[]

  constructor(
    path: string,
    fields: readonly GroupingField[],
    configuration: Pick<Configuration, 'currency' | 'timeZone'>,
  ) {
    this.#fields = fields
    this.#configuration = configuration
    this.#file = openSync(path, 'w')
    this.#rows = [csvHead(fields)]
  }

  add(one: Compared): void {
    const { currency, timeZone } = this.#configuration
    this.#rows.push(csvRow(one, this.#fields, currency, timeZone))
    if (this.#rows.length >= ROWS_AT_ONCE) this.#write()
  }

  close(): void {
    this.#write()
    closeSync(this.#file)
  }

  #write(): void {
    writeSync(this.#file, this.#rows.join(''))
    this.#rows = []
  }
}
