import { expect, test } from 'vitest'
import { factsOf, listingOf } from '../../../scripts/tenants/facts.ts'
import type { Suspension } from '../../../src/platform/tenancy/control-tables.ts'
import type { Tenant } from '../../../src/platform/tenancy.ts'

const tenant = (name: string, suspension?: Suspension): Tenant =>
  ({
    name,
    type: 'test',
    hostName: `${name}.example.com`,
    locator: `locator-${name}`,
    place: '',
    shards: ['TENANT_1', 'TENANT_2'],
    clockOffsetMs: 0,
    ...(suspension && { suspension }),
  }) as unknown as Tenant

const suspended = (state: Suspension['state']): Suspension => ({ state, reason: 'an audit', since: 0 })

test('the list of tenants says which are suspended and which were moved', () => {
  const tenants = [
    tenant('acme'),
    tenant('bold', suspended('suspended')),
    tenant('calm', suspended('moved')),
    tenant('dune', suspended('formerUnits')),
  ]
  expect(listingOf(tenants)).toEqual([
    'NAME\tTYPE\tHOST NAME\tLOCATOR\tPLACE\tDATABASES\tSTATE',
    'acme\ttest\tacme.example.com\tlocator-acme\t-\t2\tserved',
    'bold\ttest\tbold.example.com\tlocator-bold\t-\t2\tsuspended',
    'calm\ttest\tcalm.example.com\tlocator-calm\t-\t2\tmoved',
    'dune\ttest\tdune.example.com\tlocator-dune\t-\t2\tsuspended',
  ])
  expect(listingOf([])).toHaveLength(1)
})

test('the facts of a tenant that is not served give the reason', () => {
  const stateOf = (shown: Tenant) => new Map(factsOf(shown)).get('state')
  expect(stateOf(tenant('acme'))).toBe('served')
  expect(stateOf(tenant('bold', suspended('suspended')))).toBe('suspended: an audit')
  expect(stateOf(tenant('calm', suspended('moved')))).toBe('moved: an audit')
})
