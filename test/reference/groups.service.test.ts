// Resource groups as clients create and change them (contract 2, Resource groups; resources brief 2).
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuditPageResponse } from '../../src/access/audit/contract.ts'
import type { ResourceGroupResponse } from '../../src/reference/contract.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorTenant } from '../support/motor.ts'

let token = ''
let root = ''

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const motor = await motorTenant('groups')
  token = await motor.signIn('anna.admin')
  root = `/resource/${motor.tenantLocator}`
  for (const name of ['spring', 'summer']) {
    const form = new FormData()
    form.set('file', new Blob(['key,value\na,1\n']), 'file.csv')
    await callOk('POST', `${root}/tables?name=${name}&staticName=${name}`, { token, body: form })
  }
})

type GroupAnswer = Answer<ResourceGroupResponse & { message?: string }>

const START = '2026-03-01T00:00:00.000Z'
const LATER = '2026-04-01T00:00:00.000Z'

const make = (body: object): Promise<GroupAnswer> => callApi('POST', `${root}/groups`, { token, body })

const change = (locator: string, body: object): Promise<GroupAnswer> =>
  callApi('PATCH', `${root}/groups/${locator}`, { token, body })

describe('lists in requests for resource groups', () => {
  it.each([
    ['left out', {}],
    ['null', { resourceNames: null }],
  ])('are empty when they are %s, in a new group', async (how, lists) => {
    const { status, body } = await make({ name: `empty, ${how}`, selectionStartTime: START, ...lists })
    expect([status, body.resourceNames]).toEqual([200, []])
  })

  it('are empty when they are left out or null, in a change', async () => {
    const { body: made } = await make({ name: 'rates', selectionStartTime: START, resourceNames: ['spring'] })
    const moved = { name: 'rates of April', selectionStartTime: LATER }
    for (const lists of [{}, { addResources: null, removeResources: null }])
      expect((await change(made.locator, { ...moved, ...lists })).body).toMatchObject({
        ...moved,
        resourceNames: ['spring'],
      })
    const added = await change(made.locator, { ...moved, addResources: ['summer'] })
    expect(added.body.resourceNames).toEqual(['spring', 'summer'])
    const removed = await change(made.locator, { ...moved, removeResources: ['spring'] })
    expect(removed.body.resourceNames).toEqual(['summer'])
  })

  it('must not contain null', async () => {
    const { status, body } = await make({ name: 'n', selectionStartTime: START, resourceNames: [null] })
    expect([status, body.message]).toEqual([400, "'resourceNames[0]' must be text, not null."])
  })
})

it('a resource in both addResources and removeResources of a change is in the group afterwards', async () => {
  const start = { name: 'both', selectionStartTime: START }
  const { body: made } = await make({ ...start, resourceNames: ['spring'] })
  const both = (name: string) => ({ ...start, addResources: [name], removeResources: [name] })
  expect((await change(made.locator, both('spring'))).body.resourceNames).toEqual(['spring'])
  expect((await change(made.locator, both('summer'))).body.resourceNames).toEqual(['spring', 'summer'])
  const absent = await change(made.locator, { ...start, removeResources: ['autumn'] })
  expect([absent.status, absent.body.message]).toEqual([
    400,
    "'removeResources' contains names that are not in the group: 'autumn'.",
  ])
})

it('the audit trail records who created, changed and retired a group, and nothing for a repeated retirement', async () => {
  const made = await make({ name: 'audited', selectionStartTime: START, resourceNames: ['spring'] })
  const { locator } = made.body
  await change(locator, {
    name: 'audited',
    selectionStartTime: LATER,
    addResources: ['summer'],
    removeResources: ['spring'],
  })
  for (const _ of ['retired', 'retired already'])
    await callOk('PATCH', `${root}/groups/${locator}/retire`, { token })
  const { entries } = await callOk<AuditPageResponse>('GET', `/audit/list?subject=${locator}`, { token })
  const name = 'audited'
  expect(entries.map(one => [one.action, one.username, one.details])).toEqual(
    [
      { name, selectionStartTime: START, added: ['spring'], removed: [] },
      {
        name,
        selectionStartTime: LATER,
        earlierSelectionStartTime: START,
        added: ['summer'],
        removed: ['spring'],
      },
      { name, selectionStartTime: LATER, added: [], removed: [], retired: true },
    ].map(details => ['resource-groups.write', 'anna.admin', details]),
  )
})
