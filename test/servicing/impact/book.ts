// A generated book, read as the command reads it, and operations on its policies.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type Entry, readBook } from '../../../cli/offline/book.ts'
import { checkFolder } from '../../../cli/offline/check.ts'
import { type ImpactResult, type OfflineImpact, offlineImpact } from '../../../cli/offline/impact.ts'
import type { PolicyCase } from '../../../cli/offline/policy-file.ts'
import type { Instant } from '../../../src/kernel/time.ts'
import type { Configuration } from '../../../src/product/configuration.ts'
import type { FieldData } from '../../../src/product/fields/groups.ts'
import type { BookedPolicy } from '../../../src/servicing/impact/book-policy.ts'
import type { Compared } from '../../../src/servicing/impact/comparison.ts'
import type { Pricing, Risk, Skipped } from '../../../src/servicing/impact/risk.ts'
import { writeBook } from '../../../tools/generate-book.ts'

/** The day as of which books are generated. */
export const BOOK_DAY = Date.UTC(2026, 9, 1) as Instant

export function madeUpBook(accounts: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-impact-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  writeBook(folder, { accounts, seed: 'book' })
  return folder
}

export async function exampleConfiguration(name: 'motor' | 'home'): Promise<Configuration> {
  const { configuration } = await checkFolder(`examples/${name}`)
  return configuration!
}

export async function policiesOf(folder: string, configuration: Configuration): Promise<BookedPolicy[]> {
  const found: BookedPolicy[] = []
  for await (const entry of readBook(folder, configuration, BOOK_DAY))
    if ('policy' in entry) found.push(entry.policy)
  return found
}

export type Gone = ImpactResult & { readonly all: (Compared | Skipped)[] }

/** Compares the policies, and keeps the result of each. */
export async function impactOf(policies: readonly BookedPolicy[], asked: OfflineImpact): Promise<Gone> {
  const all: (Compared | Skipped)[] = []
  const book = (async function* (): AsyncGenerator<Entry> {
    for (const policy of policies) yield { policy }
  })()
  return { ...(await offlineImpact(book, asked, one => void all.push(one))), all }
}

/** The risk as a request for a new policy, as somebody would enter it from the policy. */
export function asCase(risk: Risk, { term }: Pick<Pricing, 'term'>): PolicyCase {
  const content = ({ values, groups }: FieldData) => ({
    fieldValues: Object.fromEntries(
      Object.entries(values).filter(([name]) => !groups.some(({ fieldName }) => fieldName === name)),
    ),
    fieldGroups: groups.map(({ fieldName, values: inner }) => ({ fieldName, fieldValues: inner })),
  })
  return {
    name: undefined,
    values: risk.policyholder,
    policy: {
      productName: risk.productName,
      policyStartTimestamp: term.start,
      policyEndTimestamp: term.end,
      paymentScheduleName: risk.paymentScheduleName,
      ...content(risk.data),
      exposures: risk.exposures.map(exposure => ({
        exposureName: exposure.name,
        ...content(exposure.data),
        perils: exposure.perils.map(peril => ({
          name: peril.name,
          ...content(peril.data),
          ...peril.amounts,
        })),
      })),
    },
  }
}

/** The configuration with a changed product of the same name. */
export const withProduct = (
  configuration: Configuration,
  name: string,
  change: (product: Configuration['products'][string]) => Partial<Configuration['products'][string]>,
): Configuration => {
  const product = configuration.products[name]!
  return {
    ...configuration,
    products: { ...configuration.products, [name]: { ...product, ...change(product) } },
  }
}

/** The configuration with changed values in a look-up table of the motor product. */
export const withFactors = (
  configuration: Configuration,
  table: string,
  change: (key: string, value: string) => string,
): Configuration =>
  withProduct(configuration, 'private_motor', ({ tables }) => ({
    tables: {
      ...tables,
      [table]: {
        ...tables[table]!,
        rows: tables[table]!.rows.map(([key, value]) => [key!, change(key!, value!)]),
      },
    },
  }))
