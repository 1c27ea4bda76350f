// The impact of a new configuration on a book, without a service: prices each policy with both configurations, one after the
// other.
import { transientLocators } from '../../src/kernel/locators.ts'
import type { TimeZone } from '../../src/kernel/time.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { RatingTables } from '../../src/reference/data-tables/rating-tables.ts'
import { type Compared, comparePolicy, type Sides } from '../../src/servicing/impact/comparison.ts'
import type { GroupingField } from '../../src/servicing/impact/groups.ts'
import type { Side } from '../../src/servicing/impact/price.ts'
import type { Question, Skipped } from '../../src/servicing/impact/risk.ts'
import { addToTotals, noTotals, type Totals } from '../../src/servicing/impact/totals.ts'
import type { Entry } from './book.ts'
import { offlineContext } from './price.ts'
import { offlineCalls } from './sandbox.ts'

export type OfflineImpact = {
  /** Absent: recorded prices. */
  readonly old: Configuration | undefined
  readonly new: Configuration
  readonly question: Question
  readonly fields: readonly GroupingField[]
}

export type ImpactResult = {
  readonly totals: Totals
  /** Data that a service would have used in addition. */
  readonly notes: readonly string[]
}

/** Goes through the book. Calls `each` with every policy that was compared. If `isStopped`, stops with the result so far. */
export async function offlineImpact(
  book: AsyncIterable<Entry>,
  { old, new: now, question, fields }: OfflineImpact,
  each: (one: Compared | Skipped, totals: Totals) => void,
  isStopped: () => boolean = () => false,
): Promise<ImpactResult> {
  const notes = new Set<string>()
  const totals = noTotals()
  const sides: Sides = {
    ...(old && { old: sideOf(old, false) }),
    new: sideOf(now, true),
    fields,
    question,
    zone: now.timeZone as TimeZone,
    price: work => work(attemptWith(notes)),
  }
  for await (const entry of book) {
    if (isStopped()) break
    const one = 'policy' in entry ? await comparePolicy(entry.policy, sides) : unreadable(entry)
    addToTotals(totals, one)
    each(one, totals)
  }
  return { totals, notes: [...notes] }
}

const sideOf = (configuration: Configuration, isNew: boolean): Side => ({
  configuration: loadedConfiguration(configuration, isNew ? 'new' : 'old', compileTemplate),
  configVersion: 1,
  isNew,
})

function attemptWith(notes: Set<string>) {
  const context = offlineContext()
  const supply = transientLocators(0)
  return {
    now: context.now,
    supply,
    digits: async () => supply,
    tables: new RatingTables(context),
    plugins: offlineCalls(context, what =>
      notes.add(`A plugin requested ${what}, which is not available without a service.`),
    ),
  }
}

/** A policy of the book that could not be read. */
const unreadable = ({ locator, reasons }: Extract<Entry, { reasons: readonly string[] }>): Compared => ({
  locator,
  productName: '',
  termStart: 0,
  termEnd: 0,
  groups: {},
  notes: [],
  leftOut: [],
  reasons: reasons.map(reason => `book: ${reason}`),
})
