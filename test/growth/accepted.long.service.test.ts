// Accepted requests at sizes that are doubled three times: each step of each story takes at most twice the work per doubling.
import { evictAllDurableObjects } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, archiveOf, deployForm, motorWithoutPapers } from '../support/examples.ts'
import { migratedAccount, migratedPolicy } from '../support/migrated.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'
import { settledMigration } from '../support/settled-migration.ts'
import { administrator } from '../support/sign-in.ts'
import { size } from '../support/sizes.ts'
import { ACCEPTED, type Accepted, type NewPolicyContext } from './accepted.ts'
import { type Cost, DOUBLINGS, stepsOutOfProportion, TWO_SIZES } from './proportion.ts'

const PRODUCT = 'products/private_motor/policy'
const SUM = 'exports.executeLambda = (operation, { items }) => items.reduce((sum, { at }) => sum + at, 0)'

type Field = { name: string; maximum?: number }

/** The motor example with room for many drivers and long remarks, a constraint on vehicles, and a lambda that adds numbers. */
function roomyMotor(): ArchiveFiles {
  const files = pluginRated([], { 'lambda/lambda.js': SUM }, motorWithoutPapers())
  const change = <Content>(path: string, changed: (content: Content) => unknown): void => {
    const file = files[path]!
    const text = typeof file === 'string' ? file : new TextDecoder().decode(file)
    files[path] = JSON.stringify(changed(JSON.parse(text)))
  }
  const optional = (name: string, more: object = {}) => ({ name, type: 'string', optional: true, ...more })
  change<{ fields: Field[] }>(`${PRODUCT}/policy.json`, policy => ({
    ...policy,
    fields: [
      ...policy.fields.map(field => (field.name === 'named_drivers' ? { ...field, maximum: 1_000 } : field)),
      optional('remarks'),
    ],
  }))
  change<{ fields: Field[] }>(`${PRODUCT}/exposures/vehicle/exposure.json`, vehicle => ({
    ...vehicle,
    fields: [
      ...vehicle.fields,
      optional('make'),
      optional('model', {
        constraint: { table: 'vehicles', column: 'model', where: { make: { key: 'make' } } },
      }),
    ],
  }))
  return files
}

/** A valid configuration without faults. */
const PLAIN: ArchiveFiles = {
  'config.json': JSON.stringify({ timezone: 'Europe/Berlin', currency: 'EUR' }),
  'policyholder/policyholder.dictionary.json': JSON.stringify([{ name: 'last_name', type: 'string' }]),
  'security/test_users.json': JSON.stringify([{ username: 'alice', name: 'Alice', password: 'password' }]),
  'products/p/policy/policy.json': JSON.stringify({ fields: [] }),
  'products/p/policy/exposures/e/exposure.json': JSON.stringify({
    name: 'e',
    displayName: 'E',
    fields: [],
  }),
  'products/p/policy/exposures/e/perils/x.json': JSON.stringify({ name: 'x', fields: [] }),
  'products/p/policy/exposures/e/perils/x.premium.liquid': '{{ 100 | set_year_premium }}',
}

let motor: Motor
let admin: string
let policyholderLocator: string
let names = 0

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  const deployed = await motorTenant('accepted', roomyMotor())
  motor = { ...deployed, token: await deployed.signIn('anna.admin') }
  policyholderLocator = await deployed.newPolicyholder()
  admin = await administrator()
})

/** Rows that D1 read and wrote for the response (platform/calls.ts). */
function rowsOf(headers: Headers): number {
  const [, read, written] = /rows;desc="(\d+) read, (\d+) written"/.exec(headers.get('server-timing') ?? '')!
  return Number(read) + Number(written)
}

const tokenFor = (path: string): string => (path.startsWith('/configuration/') ? admin : motor.token)

// biome-ignore lint/suspicious/noExplicitAny: see accepted.ts
async function accepted(method: string, path: string, body?: unknown): Promise<{ body: any; rows: number }> {
  const answer = await callApi<unknown>(method, path, { token: tokenFor(path), body })
  const shown = `${method} ${path}: ${JSON.stringify(answer.body).slice(0, 600)}`
  expect([200, 201, 202, 204], shown).toContain(answer.status)
  return { body: answer.body, rows: rowsOf(answer.headers) }
}

/** The cost of each step of the story at this size. */
async function costsOf({ run }: Accepted, size: number): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>()
  const { policy } = plainYear().request
  const add = (name: string, { rows, ms }: Cost): void => {
    const before = costs.get(name) ?? { rows: 0, ms: 0 }
    costs.set(name, { rows: before.rows + rows, ms: before.ms + ms })
  }
  const step: NewPolicyContext['step'] = async (name, ...call) => {
    // Otherwise rows at two sizes could not be compared, because an object may remember the policy or not.
    await evictAllDurableObjects()
    const begun = performance.now()
    const { body, rows } = await accepted(...call)
    add(name, { rows, ms: performance.now() - begun })
    return body
  }
  await run(
    {
      tenantLocator: motor.tenantLocator,
      policy: { ...policy, policyholderLocator },
      vehicle: (policy.exposures as object[])[0]!,
      driver: (policy.fieldGroups as object[])[0]!,
      migratedAccount,
      migratedPolicy: migratedPolicy as NewPolicyContext['migratedPolicy'],
      newName: () => {
        names += 1
        return `growth${names}`
      },
      archive: files => deployForm(archiveOf({ ...PLAIN, ...files }), { tenantNameSuffix: 'grown' }),
      file: (text, fileName) => {
        const form = new FormData()
        form.set('file', new Blob([text]), fileName)
        return form
      },
      call: async (...call) => (await accepted(...call)).body,
      step,
      migrated: async (name, accounts) => {
        const root = `/migration/${motor.tenantLocator}/migrations`
        const begun = performance.now()
        const { body } = await accepted('POST', root, accounts)
        const { migrationState } = await settledMigration(`${root}/${body.locator}`, motor.token, 60_000)
        const failures = await accepted('GET', `${root}/${body.locator}/failures/list`)
        expect(migrationState, JSON.stringify(failures.body).slice(0, 600)).toBe('finished')
        add(name, { rows: 0, ms: performance.now() - begun })
      },
    },
    size,
  )
  return costs
}

/** Far more than on an idle machine, because a busy one takes much longer. */
const PATIENCE_MS = 600_000

describe('The work of accepted requests grows in proportion to', { timeout: PATIENCE_MS }, () => {
  it.each(ACCEPTED.map(one => [one.name, one] as const))('%s', async (_, one) => {
    const sizes = size(TWO_SIZES, DOUBLINGS)
    expect(await stepsOutOfProportion(one.smallest, sizes, of => costsOf(one, of))).toEqual([])
  })
})
