// What templates and plugins printed of a policyholder into the records of its policies: underwriting notes,
// descriptions of fees and taxes, data of custom events.
import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import type { Guard } from '../../platform/commit.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { UnderwritingResult } from '../../policy/records/transactions.ts'
import { installments, type StoredInstallmentFee } from '../../policy/tables/billing.ts'
import {
  endorsements,
  fees,
  modifications,
  perilRuns,
  policies,
  quotes,
  type StoredPerilPrice,
} from '../../policy/tables/policies.ts'

type Scrub = (text: string) => string

/** A column with printed text in it, and its content without what `scrub` takes out. */
type PrintedColumn = {
  table: SQLiteTable
  column: string
  /** Contents without it have no printed text. */
  marker: string
  clean: (content: string, scrub: Scrub) => string
}

function cleanUnderwriting(content: string, scrub: Scrub): string {
  const result = JSON.parse(content) as UnderwritingResult
  return JSON.stringify({ ...result, notes: result.notes.map(scrub) })
}

function cleanPrice(content: string, scrub: Scrub): string {
  const price = JSON.parse(content) as StoredPerilPrice
  const taxes = price.taxes.map(tax =>
    tax.description === undefined ? tax : { ...tax, description: scrub(tax.description) },
  )
  return JSON.stringify({ ...price, taxes })
}

function cleanBilledFees(content: string, scrub: Scrub): string {
  const billed = JSON.parse(content) as StoredInstallmentFee[]
  return JSON.stringify(billed.map(fee => ({ ...fee, description: scrub(fee.description) })))
}

const PRINTED: readonly PrintedColumn[] = [
  { table: quotes, column: 'underwriting', marker: '"notes":["', clean: cleanUnderwriting },
  { table: modifications, column: 'underwriting', marker: '"notes":["', clean: cleanUnderwriting },
  { table: endorsements, column: 'underwriting', marker: '"notes":["', clean: cleanUnderwriting },
  { table: installments, column: 'fees', marker: '"description":"', clean: cleanBilledFees },
  { table: fees, column: 'description', marker: '', clean: (content, scrub) => scrub(content) },
  { table: perilRuns, column: 'price', marker: '"description":"', clean: cleanPrice },
]

type PrintedRow = { locator: string | number; content: string }

const ofHolder = (locator: Uuid): SQL => sql`from ${policies} where policyholder_locator = ${locator}`

/** A query for a number that changes with every change of the policyholder's policies, and with a new one. */
export const policiesStampQuery = (database: Database, locator: Uuid) =>
  database.build.all<{ stamp: number }>(sql`select coalesce(sum(version), 0) as stamp ${ofHolder(locator)}`)

/** Trips when a policy of the policyholder has changed since the stamp was read, or there is another one. */
export const policiesGuard = (locator: Uuid, stamp: number): Guard => ({
  name: 'guard_policy_version',
  holds: sql`(select coalesce(sum(version), 0) ${ofHolder(locator)}) = ${stamp}`,
})

/** Queries for the printed texts of the policyholder's policies; `scrubQueries` takes their results. */
export const printedQueries = (database: Database, locator: Uuid): Query[] =>
  PRINTED.map(({ table, column, marker }) => {
    const content = sql.identifier(column)
    return database.build.all<PrintedRow>(
      sql`select locator, ${content} as content from ${table}
        where instr(${content}, ${marker}) > 0 and policy_locator in (select locator ${ofHolder(locator)})`,
    )
  })

/**
 * Queries that clean the texts, and make every policy of the policyholder a version newer: what the policies'
 * objects remember of them and of the policyholder is stale then.
 */
export function scrubQueries(
  database: Database,
  locator: Uuid,
  printed: readonly (readonly PrintedRow[])[],
  scrub: Scrub,
): Query[] {
  const queries = PRINTED.flatMap(({ table, column, clean }, index) => {
    const rewrites: Rewrite[] = []
    for (const { locator, content } of printed[index]!) {
      const after = clean(content, scrub)
      if (after !== content) rewrites.push([locator, after])
    }
    return rewriteQueries(database, table, column, rewrites)
  })
  return [
    ...queries,
    database.build.run(sql`update ${policies} set version = version + 1
    where policyholder_locator = ${locator}`),
  ]
}

/** A row's locator and its new content. */
type Rewrite = [locator: string | number, content: string]

/** Characters of JSON in one parameter; D1 takes 2 MB. */
const LARGEST_PARAMETER = 500_000

function rewriteQueries(
  database: Database,
  table: SQLiteTable,
  column: string,
  rewrites: readonly Rewrite[],
): Query[] {
  const chunks: string[][] = []
  let room = 0
  for (const text of rewrites.map(rewrite => JSON.stringify(rewrite))) {
    if (text.length > room) {
      chunks.push([])
      room = LARGEST_PARAMETER
    }
    chunks.at(-1)!.push(text)
    room -= text.length
  }
  const set = sql.identifier(column)
  return chunks.map(texts =>
    database.build.run(
      sql`update ${table} set ${set} = j.value ->> 1 from json_each(${`[${texts.join(',')}]`}) as j
        where ${table}.locator = j.value ->> 0`,
    ),
  )
}
