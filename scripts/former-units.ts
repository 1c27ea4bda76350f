// Finds tenants of an earlier release that have amounts in its minor units (src/platform/tenancy/former-units.ts), before they
// are served.
import type { MigrationTarget } from '../src/platform/database/target.ts'
import { FORMER_UNITS_CURRENCIES } from '../src/platform/tenancy/former-units.ts'
import type { Stores } from './databases.ts'

type Marked = {
  readonly locator: string
  readonly name: string
  readonly isSuspended: boolean
  readonly bindings: readonly string[]
}

/** How a tenant uses the currencies: not at all, only in configurations, or in amounts too. */
type Use = 'none' | 'configured' | 'amounts'

const LIST = FORMER_UNITS_CURRENCIES.map(code => `'${code}'`).join(', ')

/**
 * Invoices, charges and the journal belong to policies, so they need no check. These tables have existed since the first
 * migration.
 */
const USE = `select
  exists (select 1 from configuration_version where currency in (${LIST})) as is_configured,
  ${['policy', 'payment', 'disbursement']
    .map(table => `exists (select 1 from ${table} where currency in (${LIST}))`)
    .join(' or ')} as has_amounts`

/** Databases that are queried at the same time. */
const AT_ONCE = 8

/** Tenants cleared by one statement, which stays far below the 100 KB that it may have. */
const CLEARED_AT_ONCE = 500

/**
 * Clears the mark of each tenant that has no amounts in former units. Throws an Error that names the tenants that have such
 * amounts and are not suspended. While a Worker of the earlier release may still serve (`isServed`), a tenant with such a
 * currency and no amounts keeps its mark, because amounts may still be added.
 */
export async function checkFormerUnits(
  control: MigrationTarget,
  open: () => Pick<Stores, 'target' | 'close'> | Promise<Pick<Stores, 'target' | 'close'>>,
  { isServed = false } = {},
): Promise<void> {
  const tenants = await markedTenants(control)
  if (tenants.length === 0) return
  const { target, close } = await open()
  const cleared: string[] = []
  const held: string[] = []
  const remaining = tenants.values()
  const work = async (): Promise<void> => {
    for (const { locator, name, isSuspended, bindings } of remaining) {
      const use = await useOf(bindings.map(target))
      if (use === 'none' || (use === 'configured' && !isServed)) cleared.push(locator)
      else if (use === 'amounts' && !isSuspended) held.push(name)
    }
  }
  try {
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
    for (let from = 0; from < cleared.length; from += CLEARED_AT_ONCE)
      await control.execute([clearing(cleared.slice(from, from + CLEARED_AT_ONCE))])
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  } finally {
    await close()
  }
  if (held.length > 0) throw new Error(refusal(held.sort()))
}

async function markedTenants(control: MigrationTarget): Promise<Marked[]> {
  const rows = await control.query(
    `select locator, name, suspension is not null as is_suspended,
       (select json_group_array(binding) from shard where tenant_locator = locator) as bindings
     from tenant where former_units is not null and status = 'active' order by name`,
  )
  return rows.map(({ locator, name, is_suspended, bindings }) => ({
    locator: String(locator),
    name: String(name),
    isSuspended: Boolean(is_suspended),
    bindings: JSON.parse(String(bindings)) as string[],
  }))
}

async function useOf(databases: readonly MigrationTarget[]): Promise<Use> {
  let use: Use = 'none'
  for (const { name, query } of databases) {
    const [row] = await query(USE).catch((problem: unknown) => {
      throw new Error(`${name} could not be checked for its currencies: ${String(problem)}`, {
        cause: problem,
      })
    })
    if (row?.has_amounts) return 'amounts'
    if (row?.is_configured) use = 'configured'
  }
  return use
}

const clearing = (locators: readonly string[]): string =>
  `update tenant set former_units = null where locator in (${locators.map(locator => `'${locator}'`).join(', ')})`

const refusal = (names: readonly string[]): string =>
  `These tenants have amounts in the minor units of an earlier release, in which their currency had no decimals, and this release would read them a hundred times too low (IQD: a thousand times): ${names.join(', ')}. Export each with the earlier release (bindery export) and suspend it there (npm run tenant -- suspend NAME). Then run this command again and import the export into a new tenant (bindery import). If a tenant has no amounts, npm run tenant -- units NAME serves it unchanged. The section Upgrades of docs/operate.md has the steps.`
