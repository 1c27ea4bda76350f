// docs/books.md shows the existing accounts, and the entries of the starter's scenario to the cent.
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { checkFolder } from '../../../cli/offline/check.ts'
import { PolicyLife } from '../../../cli/offline/life.ts'
import { worldOf } from '../../../cli/offline/world.ts'
import { policyReaderFor, readScenarioFiles } from '../../../cli/scenario/files.ts'
import { runScenario } from '../../../cli/scenario/run.ts'
import { fromMinor, toText } from '../../../src/kernel/money.ts'
import { dayStart, type Instant, isoDay } from '../../../src/kernel/time.ts'
import { JOURNAL_ACCOUNTS } from '../../../src/policy/journal/accounts.ts'
import { earnedOf, premiumSpans } from '../../../src/policy/journal/earned.ts'
import { journalOf } from '../../../src/policy/journal/history.ts'
import { bookedAt, type JournalEntry, type JournalRow } from '../../../src/policy/journal/rows.ts'
import type { AccountName } from '../../../src/product/books.ts'

const PAGE = readFileSync('docs/books.md', 'utf8')
const SCENARIO = 'cli/starter/scenarios/life.yaml'

/** The cells of the table below a heading, without its header. */
function tableBelow(heading: string): string[][] {
  const [, below = ''] = PAGE.split(`## ${heading}\n`)
  const lines = below.split('\n## ')[0]!.split('\n')
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  return lines
    .filter(line => line.startsWith('|'))
    .map(cells)
    .slice(2)
}

let life: PolicyLife
let rows: JournalRow[]

beforeAll(async () => {
  const [file] = readScenarioFiles('cli/starter', [SCENARIO])
  const { configuration, root } = await checkFolder('cli/starter')
  const created = vi.spyOn(PolicyLife.prototype, 'create')
  const world = { ...worldOf(configuration!, root), policyIn: policyReaderFor(file!.file) }
  const { passed } = await runScenario(file!.scenarios[0]!, world)
  expect(passed).toBe(true)
  life = created.mock.contexts[0] as PolicyLife
  created.mockRestore()
  rows = journalOf(life.aggregate)
})

const zone = () => life.configuration.timeZone
const dayOf = (at: Instant): string => isoDay(at, zone())
const amount = (minor: number): string => toText(fromMinor(minor, life.configuration.currency))

/** The position of the record among those of the policy, counted from 1. */
const numberOf = (records: ReadonlyMap<string, unknown>, locator: string): number =>
  [...records.keys()].indexOf(locator) + 1

function placeOf({ peril, name, start, end, invoice, payment }: JournalEntry): string {
  const { invoices, payments } = life.aggregate
  return [
    ...(peril === undefined ? [] : [peril]),
    ...(name === undefined ? [] : [name]),
    ...(start === undefined ? [] : [`${dayOf(start)} to ${dayOf(end!)}`]),
    ...(payment === undefined ? [] : [`payment ${numberOf(payments, payment)}`]),
    ...(invoice === undefined ? [] : [`invoice ${numberOf(invoices, invoice)}`]),
  ].join(', ')
}

describe('docs/books.md', () => {
  test('lists the accounts', () => {
    const accounts = Object.entries(JOURNAL_ACCOUNTS).map(([name, { type, about }]) => [
      `\`${name}\``,
      type,
      about,
    ])
    expect(tableBelow('Accounts')).toEqual(accounts)
  })

  test('lists every entry of the bicycle over two terms', () => {
    const lines = rows.flatMap(({ at, effectiveAt, kind, entries }) =>
      entries.map((entry, place) => [
        ...(place === 0 ? [dayOf(at), dayOf(effectiveAt), kind] : ['', '', '']),
        `\`${entry.account}\``,
        placeOf(entry),
        ...(entry.minor > 0 ? [amount(entry.minor), ''] : ['', amount(-entry.minor)]),
      ]),
    )
    expect(tableBelow('A policy in entries')).toEqual(lines)
  })

  test('lists the balances of the accounts at times in between', () => {
    const figures = tableBelow('What it comes to').map(([day]) => {
      const at = dayStart(day!, zone())!
      const booked = rows.map(row => ({
        ...row,
        entries: row.entries.filter(entry => bookedAt({ ...row, closedUntil: 0 as Instant }, entry) < at),
      }))
      const balance = (account: AccountName): number =>
        booked
          .flatMap(({ entries }) => entries)
          .reduce((sum, one) => (one.account === account ? sum + one.minor : sum), 0)
      const terms = { earning: 'product', zone: zone(), currency: life.configuration.currency } as const
      const written = 0 - balance('premium')
      const earned = premiumSpans(booked).reduce((sum, span) => sum + earnedOf(span, at, terms), 0)
      return [
        day!,
        ...[written, earned, written - earned].map(amount),
        ...[0 - balance('tax'), 0 - balance('fee')].map(amount),
        ...[balance('unbilled'), balance('receivable'), balance('cash')].map(amount),
      ]
    })
    expect(figures.length).toBeGreaterThan(5)
    expect(tableBelow('What it comes to')).toEqual(figures)
  })
})
