// The resources that a tenant starts with. They are created once, after its first deploy, and each item reports its outcome.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import { readTenant, shardName } from '../../../src/platform/tenancy.ts'
import { dispatchDue } from '../../../src/servicing/events/dispatch.ts'
import type { BootstrapListResponse } from '../../../src/tenants/bootstrap/routes.ts'
import { callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import {
  archiveOf,
  type DeployAnswer,
  type DeployedTenant,
  deployExample,
  deployForm,
  motorWithoutPapers,
} from '../../support/examples.ts'
import { administrator } from '../../support/sign-in.ts'

const AT = 'bootstrap/resources/'

const config = {
  resourceInstances: {
    zones2027: { staticName: 'zones', jurisdictions: ['CA'] },
    broken2027: { staticName: 'broken' },
    letter2027: { staticName: 'letter' },
    cover2027: { staticName: 'cover' },
    note2027: { staticName: 'note' },
    limits2027: { staticName: 'limits' },
    'bank of 2027': { staticName: 'bank', allowedHosts: ['Bank.example.com', '*.bank.example.com'] },
  },
  resourceGroups: {
    start: { selectionStartTime: '2020-01-01T00:00:00Z', resourceNames: ['zones2027', 'bank of 2027'] },
    lost: { selectionStartTime: 1_577_836_800_000, resourceNames: ['broken2027'] },
  },
}

const files = () => ({
  ...motorWithoutPapers(),
  [`${AT}config.json`]: JSON.stringify(config),
  [`${AT}resourceFiles/tables/zones2027.csv`]: 'key,value\n1010,0.9\n8010,1.1\n',
  [`${AT}resourceFiles/tables/broken2027.csv`]: 'key,value\n1010\n',
  [`${AT}resourceFiles/fonts/letter2027.ttf`]: 'no font',
  [`${AT}resourceFiles/documentTemplates/cover2027.liquid`]: '<p>{{ data.policy.locator }}</p>',
  [`${AT}resourceFiles/documentTemplatesSnippets/note2027.vm`]: '$data.policy.locator',
  [`${AT}resourceFiles/constraintTables/limits2027.csv`]: 'a,b\n1,2\n',
  [`${AT}resourceFiles/secrets/bank of 2027.json`]: '{"pin": "geheim-4711"}',
})

let tenant: DeployedTenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  tenant = await deployExample(files(), 'bootstrap')
})

const get = async <Body>(path: string): Promise<Body> =>
  callOk('GET', `/resource/${tenant.tenantLocator}${path}`, { token: await tenant.signIn('anna.admin') })

async function work(): Promise<void> {
  const found = await readTenant(env, { locator: tenant.tenantLocator as Uuid }, noCalls())
  await dispatchDue(env, shardName(found!, 0))
}

it('bootstrap resources are created item by item, and one that fails states why and does not block others', async () => {
  expect(tenant.logfile).toContain('secretInArchive')
  await work()
  const { items } = await get<BootstrapListResponse>('/bootstrap/list')
  expect(items.map(({ name, kind, resourceType, status }) => [name, kind, resourceType, status])).toEqual([
    ['zones2027', 'resource', 'table', 'created'],
    ['broken2027', 'resource', 'table', 'failed'],
    ['letter2027', 'resource', 'customFont', 'failed'],
    ['cover2027', 'resource', 'documentTemplate', 'created'],
    ['note2027', 'resource', 'documentTemplateSnippet', 'created'],
    ['limits2027', 'resource', 'constraintTable', 'created'],
    ['bank of 2027', 'resource', 'secret', 'created'],
    ['start', 'group', undefined, 'created'],
    ['lost', 'group', undefined, 'failed'],
  ])
  expect(items[1]!.message).toContain('2')
  expect(items[2]!.message).toMatch(/font/i)
  expect(items[8]!.message).toContain("'broken2027'")
  expect(JSON.stringify(items)).not.toContain('geheim')
})

it('bootstrap resources are in force as if they had been uploaded', async () => {
  expect(await get('/tables/zones/record?key=8010&jurisdiction=CA')).toMatchObject({
    value: { value: '1.1' },
  })
  expect(await get('/secrets/bank?byStaticName=true')).toMatchObject({
    resource: { name: 'bank of 2027' },
    secret: { pin: '********' },
    allowedHosts: ['bank.example.com', '*.bank.example.com'],
  })
})

it('bootstrap resources are created by the first deploy only: a later one warns and changes nothing', async () => {
  const before = await get<{ items: unknown[] }>('/resources/list')
  const { success, logfile } = await callOk<DeployAnswer>('POST', '/configuration/deployTest', {
    token: await administrator(),
    body: deployForm(archiveOf(files()), { tenantNameSuffix: 'bootstrap' }),
  })
  expect([success, logfile]).toEqual([true, expect.stringContaining('WARNING bootstrap/ ignoredFolder')])
  await work()
  expect(await get('/resources/list')).toEqual(before)
  expect(before.items).toHaveLength(5)
})
