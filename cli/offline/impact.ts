// The impact of a new configuration on a book, with no service: each policy priced by both configurations, one after the other.
import { transientLocators } from '../../src/kernel/locators.ts'
import type { TimeZone } from '../../src/kernel/time.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { RatingTables } from '../../src/reference/data-tables/rating-tables.ts'
import { type Compared, comparedPolicy, type Sides } from '../../src/servicing/impact/comparison.ts'
import type { GroupingField } from '../../src/servicing/impact/groups.ts'
import type { Side } from '../../src/servicing/impact/price.ts'
import type { Question, Skipped } from '../../src/servicing/impact/risk.ts'
import { addToTotals, noTotals, type Totals } from '../../src/servicing/impact/totals.ts'
import type { Entry } from './book.ts'
import { offlineContext } from './price.ts'
import { offlineSession } from './sandbox.ts'

export type OfflineImpact = {
  /** Absent: what was recorded. */
  readonly old: Configuration | undefined
  readonly new: Configuration
  readonly question: Question
  readonly fields: readonly GroupingField[]
}

export type ImpactResult = {
  readonly totals: Totals
  /** What a service would have looked at beside. */
  readonly notes: readonly string[]
}

/**
 * Goes through the book. `each` is told of every policy that was compared. Stops, with what there is so far, when `isStopped`.
 */
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
    const one = 'policy' in entry ? await comparedPolicy(entry.policy, sides) : unreadable(entry)
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
    plugins: offlineSession(context, what =>
      notes.add(`A plugin asked for ${what}, of which there is none without a service.`),
    ),
  }
}

/** A policy that the book has and that no configuration could read. */
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
