// Reports over random histories: sums agree wherever a period is divided, and a report as known at a time equals the report made
// then.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { add, type Instant, LATEST, later } from '../../src/kernel/time.ts'
import { restDue } from '../../src/policy/bills/amounts-due.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { journalOfChange } from '../../src/policy/journal/history.ts'
import type { StoredJournalRow } from '../../src/policy/journal/rows.ts'
import { policyAsKnownAt } from '../../src/policy/projection/as-known.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { isOutstanding } from '../../src/policy/records/invoice.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { layoutOf } from '../../src/reporting/columns.ts'
import type { Cell, ReportedPolicy, ReportParameters } from '../../src/reporting/kind.ts'
import { REPORT_KINDS } from '../../src/reporting/kinds.ts'
import { addToTotals, controlTotals, noTotals, totalLines } from '../../src/reporting/totals.ts'
import { afterStep, type Book, bookSteps, emptyBook } from '../support/payment-story.ts'
import { size } from '../support/sizes.ts'

const SEED = 20261126

const FIRST = 0 as Instant

type Lived = { readonly policies: ReportedPolicy[]; readonly at: Instant }

function run(
  name: string,
  { policies }: Pick<Lived, 'policies'>,
  book: Book,
  asked: Partial<ReportParameters> = {},
) {
  const kind = REPORT_KINDS.find(one => one.name === name)!
  const { configuration } = book.ground.configuration
  const surroundings = { configuration, timeZone: configuration.timeZone, knownAt: asked.at ?? LATEST }
  const parameters: ReportParameters = {
    from: FIRST,
    to: LATEST,
    at: LATEST,
    by: kind.usual,
    products: [],
    earning: 'product',
    sums: [],
    columns: [],
    ...asked,
  }
  const layout = layoutOf(kind, parameters, surroundings)
  const totals = noTotals()
  const lines: Cell[][] = []
  for (const policy of policies)
    for (const line of kind.lines(policy, parameters, surroundings)) {
      const cells = layout.cellsOf(line, policy)
      lines.push(cells)
      addToTotals(totals, cells, layout)
    }
  const measure = (column: string): number => {
    const at = layout.columns.findIndex(one => one.name === column)
    const total = lines.reduce((sum, cells) => sum + Number(cells[at] ?? 0), 0)
    const control = controlTotals(totals).map(({ sums }) => Number(sums[layout.measures.indexOf(at)]))
    expect(control.reduce((sum, one) => sum + one, 0)).toBe(total)
    return total
  }
  return { measure, totals: totalLines(totals) }
}

const reported = (aggregate: PolicyAggregate, rows: readonly StoredJournalRow[]): ReportedPolicy => ({
  policy: aggregate.policy,
  journal: rows,
  records: aggregate,
  segments: new Map(),
})

/** The history, and the state before each step that moves time. */
async function lived(begun: Book, steps: Parameters<typeof afterStep>[1][]) {
  let book = begun
  const rows: StoredJournalRow[][] = []
  const looks: Lived[] = []
  let id = 0
  for (const step of steps) {
    const before = book
    book = await afterStep(book, step)
    for (const [at, { aggregate }] of book.policies.entries()) {
      const was = before.policies[at]?.aggregate
      if (was === aggregate) continue
      const posted = journalOfChange(was, aggregate, book.now)
      rows[at] = [...(rows[at] ?? []), ...posted.map(row => ({ ...row, id: ++id, closedUntil: FIRST }))]
    }
    if (step.kind === 'wait')
      looks.push({
        at: before.now,
        policies: before.policies.map(({ aggregate }, at) =>
          reported(
            aggregate,
            (rows[at] ?? []).filter(row => row.at <= before.now),
          ),
        ),
      })
  }
  return {
    book,
    looks,
    policies: book.policies.map(({ aggregate }, at) => reported(aggregate, rows[at] ?? [])),
  }
}

const NAMES = ['writtenPremium', 'charges', 'receivables', 'payments', 'ledger', 'inForce', 'conversion']

it(
  `reports add up, and are known as they were (seed ${SEED})`,
  async () => {
    const seen = { written: 0, owed: 0, known: 0 }
    await fc.assert(
      fc.asyncProperty(
        bookSteps,
        fc.array(fc.nat(700), { minLength: 1, maxLength: 4 }),
        async (steps, days) => {
          const { book, looks, policies } = await lived(emptyBook('motor'), steps)
          const all = { policies }
          const aggregates = book.policies.map(({ aggregate }) => aggregate)
          const changes = aggregates.flatMap(({ modifications }) =>
            [...modifications.values()].filter(isIssued).map(one => one.premiumChange?.minor ?? 0),
          )
          const written = run('writtenPremium', all, book).measure('premium')
          expect(written).toBe(changes.reduce((sum, one) => sum + one, 0))
          for (const day of days) {
            const cut = add(book.now, day - 200, 'day', book.ground.timeZone)
            for (const [name, measure] of [
              ['writtenPremium', 'premium'],
              ['charges', 'amount'],
              ['payments', 'amount'],
              ['ledger', 'debit'],
              ['conversion', 'quotes'],
            ] as const) {
              const before = run(name, all, book, { to: cut }).measure(measure)
              const after = run(name, all, book, { from: cut }).measure(measure)
              expect(before + after).toBe(run(name, all, book).measure(measure))
            }
            for (const earning of ['product', 'daily'] as const) {
              const earned = run('earnedPremium', all, book, { to: cut, earning })
              expect(earned.measure('earned') + earned.measure('unearned')).toBe(earned.measure('written'))
              expect(earned.measure('written')).toBe(
                run('writtenPremium', all, book, { to: cut }).measure('premium'),
              )
            }
            expect(run('earnedPremium', all, book, { to: LATEST }).measure('unearned')).toBe(0)
          }
          const ledger = run('ledger', all, book)
          expect(ledger.measure('debit')).toBe(ledger.measure('credit'))
          const owed = aggregates.flatMap(aggregate =>
            [...aggregate.invoices.values()].filter(isOutstanding).map(one => restDue(aggregate, one).minor),
          )
          expect(run('receivables', all, book).measure('receivable')).toBe(
            owed.reduce((sum, one) => sum + one, 0),
          )
          seen.written += Math.abs(written) > 0 ? 1 : 0
          seen.owed += owed.length
          for (const look of looks) {
            const known: Lived = {
              at: look.at,
              policies: policies.flatMap(one => {
                const records = policyAsKnownAt(one.records!, look.at)
                return records
                  ? [{ ...one, records, journal: one.journal.filter(row => row.at <= look.at) }]
                  : []
              }),
            }
            for (const name of NAMES) {
              const at = add(look.at, 30, 'day', book.ground.timeZone)
              expect([name, run(name, known, book, { at }).totals]).toEqual([
                name,
                run(name, look, book, { at }).totals,
              ])
            }
            seen.known += 1
          }
        },
      ),
      { seed: SEED, numRuns: size(20, 1_500) },
    )
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10)
  },
  size(120_000, 3_000_000),
)

/** The policy as it is if the books were closed at the end of each of the periods. */
const withClosings = (policy: ReportedPolicy, ends: readonly Instant[]): ReportedPolicy => ({
  ...policy,
  journal: policy.journal.map(row => ({
    ...row,
    closedUntil: ends.filter(end => end <= row.at).reduce(later, FIRST),
  })),
})

it(
  `reports of periods that follow one another add up to the price, even if some were closed (seed ${SEED})`,
  async () => {
    let late = 0
    await fc.assert(
      fc.asyncProperty(
        bookSteps,
        fc.array(fc.nat(700), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(150), { minLength: 1, maxLength: 3 }),
        async (steps, days, closings) => {
          const { book, policies: open } = await lived(emptyBook('motor'), steps)
          const { timeZone } = book.ground
          const daysBack = (list: readonly number[]): Instant[] =>
            list.map(day => add(book.now, -day, 'day', timeZone))
          const closed = daysBack(closings)
          const policies = open.map(one => withClosings(one, closed))
          late += policies.flatMap(one => one.journal).filter(row => row.effectiveAt < row.closedUntil).length
          const cuts = [...closed, ...daysBack(days.map(day => day - 500))].sort((a, b) => a - b)
          const times = [FIRST, ...new Set(cuts), LATEST]
          const periods = times.slice(1).map((to, at) => ({ from: times[at]!, to }))
          const sumOf = (name: string, column: string, asked: Partial<ReportParameters> = {}): number =>
            periods.reduce(
              (sum, period) =>
                sum + run(name, { policies }, book, { ...asked, ...period, by: [] }).measure(column),
              0,
            )
          const prices = book.policies
            .filter(({ aggregate }) => aggregate.policy.issuedAt !== undefined)
            .map(({ aggregate, product }) =>
              policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isIssued)),
            )
          const priced = (amountOf: (price: (typeof prices)[number]) => number): number =>
            prices.reduce((sum, price) => sum + Math.round(amountOf(price) * 100), 0)
          expect({
            premium: sumOf('bordereau', 'premium'),
            taxes: sumOf('bordereau', 'taxes'),
            fees: sumOf('bordereau', 'fees'),
            commission: sumOf('bordereau', 'commission'),
          }).toEqual({
            premium: priced(one => one.grossPremium),
            taxes: priced(one => one.grossTaxes),
            fees: priced(one => one.grossFees),
            commission: priced(one => one.grossCommissions),
          })
          expect(sumOf('writtenPremium', 'premium')).toBe(priced(one => one.grossPremium))
          for (const { to } of periods)
            expect(run('earnedPremium', { policies }, book, { to }).measure('written')).toBe(
              run('writtenPremium', { policies }, book, { to }).measure('premium'),
            )
          for (const earning of ['product', 'daily'] as const)
            expect(sumOf('earnedPremium', 'earned', { earning })).toBe(priced(one => one.grossPremium))
        },
      ),
      { seed: SEED, numRuns: size(60, 2_000) },
    )
    expect(late).toBeGreaterThan(10)
  },
  size(120_000, 3_000_000),
)
