// What `npm run tenant -- list` and `show` print of a tenant.
import type { Suspension } from '../../src/platform/tenancy/control-tables.ts'
import { agentsAreAllowed, type Tenant } from '../../src/platform/tenancy.ts'

const HOUR_MS = 3_600_000

const STATES: Readonly<Record<Suspension['state'], string>> = {
  suspended: 'suspended',
  moved: 'moved',
  formerUnits: 'suspended',
}

/** Says in a word whether the tenant is served. */
const stateOf = ({ suspension }: Pick<Tenant, 'suspension'>): string =>
  suspension ? STATES[suspension.state] : 'served'

type Listed = Pick<Tenant, 'name' | 'type' | 'hostName' | 'locator' | 'place' | 'shards' | 'suspension'>

/** Returns the lines of a list of tenants, with a heading. Tabs separate the columns. */
export function listingOf(tenants: readonly Listed[]): readonly string[] {
  const heading = ['NAME', 'TYPE', 'HOST NAME', 'LOCATOR', 'PLACE', 'DATABASES', 'STATE']
  const rows = tenants.map(tenant => {
    const { name, type, hostName, locator, place, shards } = tenant
    return [name, type, hostName, locator, place || '-', shards.length, stateOf(tenant)]
  })
  return [heading, ...rows].map(cells => cells.join('\t'))
}

/** Returns facts about a tenant for operators, with labels. */
export function factsOf(tenant: Tenant): [label: string, value: string][] {
  const { name, type, hostName, locator, place, suspension, clockOffsetMs, quotas, allowedOrigins } = tenant
  const state = stateOf(tenant)
  const facts: [string, string | undefined][] = [
    ['name', name],
    ['type', type],
    ['host name', hostName],
    ['locator', locator],
    ['place', place || 'anywhere'],
    ['state', suspension ? `${state}: ${suspension.reason}` : state],
    ['clock', clockOffsetMs > 0 ? `${(clockOffsetMs / HOUR_MS).toFixed(1)} hours ahead` : undefined],
    ['quotas', quotas && JSON.stringify(quotas)],
    ['origins', allowedOrigins?.join(' ')],
    ['agents', agentsAreAllowed(tenant) ? 'are allowed' : 'are not allowed'],
  ]
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined)
}
