// The book of twelve boats: each figure in docs/reports.md equals that of its report.
import { expect, it } from 'vitest'
import books from '../../docs/books.md?raw'
import page from '../../docs/reports.md?raw'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import { LATEST } from '../../src/kernel/time.ts'
import { layoutOf } from '../../src/reporting/columns.ts'
import type { ReportedPolicy, ReportParameters } from '../../src/reporting/kind.ts'
import { REPORT_KINDS } from '../../src/reporting/kinds.ts'
import { addToTotals, noTotals, totalLines } from '../../src/reporting/totals.ts'
import { month } from '../support/boat-product.ts'
import {
  BOOK_CONFIGURATION,
  migratedBoat,
  migratedBoatThatKept40,
  twelveBoats,
} from '../support/twelve-boats.ts'

const { boats, disbursements } = await twelveBoats()
const surroundings = {
  configuration: BOOK_CONFIGURATION,
  timeZone: 'Europe/Berlin' as TimeZone,
  knownAt: LATEST as Instant,
}

const YEAR = { from: month(0), to: month(12) }

/** The parameters of each report on the page, and the groups of its rows. */
const ASKED: Record<string, { by: string[]; from?: Instant; to?: Instant; isByBoat?: true }> = {
  writtenPremium: { by: [], isByBoat: true },
  earnedPremium: { by: [], isByBoat: true, from: month(6), to: month(7) },
  charges: { by: ['account', 'name'] },
  inForce: { by: [], isByBoat: true },
  receivables: { by: ['age'] },
  payments: { by: ['type'] },
  bordereau: { by: ['transaction'] },
  retention: { by: ['outcome'] },
  conversion: { by: ['state'] },
  ledger: { by: ['account'] },
}

type Figures = Record<string, string>[]

/** The table below the mark. */
function tableOf(name: string): Figures {
  const [, rest] = page.split(`<!-- figures: ${name} -->`) as [string, string]
  const lines = rest.trim().split('\n\n')[0]!.split('\n')
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  const [head, , ...rows] = lines.map(cells) as [string[], string[], ...string[][]]
  return rows.map(row => Object.fromEntries(head.map((column, at) => [column, row[at]!])))
}

const major = (minor: number | string): string =>
  (Number(minor) / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })

function reported(name: string, policies: readonly ReportedPolicy[]): Figures {
  const kind = REPORT_KINDS.find(one => one.name === name)!
  const { by, ...period } = ASKED[name]!
  const parameters: ReportParameters = {
    ...YEAR,
    ...period,
    at: month(6, 15),
    by,
    products: [],
    earning: 'product',
    sums: [],
    columns: [],
  }
  const layout = layoutOf(kind, parameters, surroundings)
  const totals = noTotals()
  for (const policy of policies)
    for (const line of kind.lines(policy, parameters, surroundings))
      addToTotals(totals, layout.cellsOf(line, policy), layout)
  return totalLines(totals).map(({ group, sums }) =>
    Object.fromEntries([
      ...by.map((column, at) => [column, String(group[at])]),
      ...layout.measures.map((at, place) => {
        const { name: column, type } = layout.columns[at]!
        return [column, type === 'amount' ? major(sums[place]!) : String(sums[place])]
      }),
    ]),
  )
}

const policies: ReportedPolicy[] = boats.map(({ loaded, rows }) => ({
  policy: loaded.aggregate.policy,
  journal: rows,
  records: loaded.aggregate,
  segments: new Map(),
}))
const all: ReportedPolicy[] = [...policies, { journal: disbursements, segments: new Map() }]

/** The figures in the columns that the page shows. */
const onlyColumns = (figures: Figures, columns: readonly string[]): Figures =>
  figures.map(one => Object.fromEntries(columns.map(column => [column, one[column]!])))

it.each(Object.keys(ASKED))('the report %s of twelve boats matches docs/reports.md', name => {
  const table = tableOf(name)
  const columns = Object.keys(table[0]!)
  const figures = ASKED[name]!.isByBoat
    ? [
        ...policies.flatMap((policy, at) =>
          reported(name, [policy]).map(one => ({ ...one, boat: String(at + 1) })),
        ),
        ...reported(name, all).map(one => ({ ...one, boat: 'all' })),
      ]
    : reported(name, all)
  expect(onlyColumns(figures, columns)).toEqual(table)
})

it('every report has figures on the page', () => {
  expect(Object.keys(ASKED)).toEqual(REPORT_KINDS.map(({ name }) => name))
})

it('premium written and payments made in another system do not count in the period', async () => {
  const { loaded, rows } = await migratedBoat()
  const migrated: ReportedPolicy = { policy: loaded.aggregate.policy, journal: rows, segments: new Map() }
  const [written] = reported('writtenPremium', [migrated])
  expect(written).toMatchObject({ premium: '0.00', openingPremium: '1,200.00' })
  expect(reported('payments', [migrated])).toEqual([])
  expect(reported('earnedPremium', [migrated])[0]).toMatchObject({ written: '1,200.00', earned: '100.00' })
  expect(reported('charges', [migrated])).toEqual([
    { account: 'tax', name: 'levy', amount: '0.00', openingAmount: '120.00' },
  ])
})

it('an amount that a cancellation in another system held back is not opening premium', async () => {
  const { loaded, rows } = await migratedBoatThatKept40()
  const migrated: ReportedPolicy = { policy: loaded.aggregate.policy, journal: rows, segments: new Map() }
  // Eight months of 100.00 are written. 40.00 are held back, and the taxes of eight months.
  expect(reported('writtenPremium', [migrated])).toMatchObject([
    { premium: '0.00', heldBack: '0.00', openingPremium: '800.00' },
  ])
  expect(reported('charges', [migrated])).toEqual([
    { account: 'holdback', name: '', amount: '0.00', openingAmount: '40.00' },
    { account: 'tax', name: 'levy', amount: '0.00', openingAmount: '80.00' },
  ])
})

it('the journal of boat 7 matches docs/books.md', () => {
  const [, rest] = books.split('<!-- entries: 7 -->') as [string, string]
  const lines = rest.trim().split('\n\n')[0]!.split('\n').slice(2)
  const expected = lines.map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
  const posted = boats[6]!.rows.flatMap(({ kind, entries }) =>
    entries.map(({ account, minor, peril, name, invoice }) => [
      kind,
      account,
      major(minor),
      invoice ? 'an invoice' : [peril, name].filter(one => one !== undefined).join(', '),
    ]),
  )
  expect(posted).toEqual(expected)
})
