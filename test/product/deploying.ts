import { env } from 'cloudflare:workers'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { type Answer, callApi } from '../support/api.ts'
import { boundDatabase } from '../support/databases.ts'
import { type ArchiveFiles, archiveOf, type DeployAnswer, deployForm } from '../support/examples.ts'
import { atFileStart } from '../support/fresh-start/memory.ts'
import { roundTrips } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

/** A boat with a hull that may sink, for `premium` a year. It has no users, because hashing passwords takes long. */
export function boat(premium = 100, changes: ArchiveFiles = {}): ArchiveFiles {
  const policy = 'products/boat/policy'
  return {
    'config.json': JSON.stringify({ timezone: 'Europe/Berlin', currency: 'EUR' }),
    [`${policy}/policy.json`]: JSON.stringify({
      fields: [{ name: 'harbour', title: 'Home harbour', type: 'string' }],
    }),
    [`${policy}/exposures/hull/exposure.json`]: JSON.stringify({
      name: 'hull',
      displayName: 'Hull',
      fields: [{ name: 'length', title: 'Length', type: 'number' }],
    }),
    [`${policy}/exposures/hull/perils/sinking.json`]: JSON.stringify({ name: 'sinking', fields: [] }),
    [`${policy}/exposures/hull/perils/sinking.premium.liquid`]: `{{ ${premium} | set_year_premium }}`,
    ...changes,
  }
}

export const users = (...names: string[]): ArchiveFiles => ({
  'security/test_users.json': JSON.stringify(
    names.map(username => ({ username, name: username, password: `pw of ${username}` })),
  ),
})

let signedIn: Promise<string> | undefined
atFileStart(() => {
  signedIn = undefined
})

/** Returns the token of the administration account. It signs in once for each file, because that takes long. */
export const administratorToken = (): Promise<string> => {
  signedIn ??= administrator()
  return signedIn
}

export type DeployFields = Record<string, string>

/** Sends an archive to a route as the administration account, or with `token`. */
export async function deploy(
  path: string,
  fields: DeployFields,
  files: ArchiveFiles = boat(),
  { token, headers }: { token?: string; headers?: Record<string, string> } = {},
): Promise<Answer<DeployAnswer>> {
  const given = token ?? (await administratorToken())
  // Revocations are read every 5 s. Read them here, so that they are not among the round trips of the deploy, which are counted.
  await callApi('GET', '/v1/ping/authorized', { token: given })
  return callApi('POST', path, {
    token: given,
    body: deployForm(archiveOf(files), fields),
    headers,
  })
}

/** Returns the number of round trips of one kind that the response reports. */
export const callsOf = (answer: Answer<unknown>, kind: 'd1' | 'r2' | 'object'): number =>
  roundTrips(answer)[kind]!

/** Returns the tenant in its present state. */
export const tenantNamed = (name: string): Promise<Tenant | undefined> => readTenant(env, { name }, noCalls())

/** Returns rows of the tenant's database. */
export async function rowsOf<Row>(tenantName: string, statement: string): Promise<Row[]> {
  const tenant = await tenantNamed(tenantName)
  const { results } = await boundDatabase(tenant!.shards[0]!).prepare(statement).all<Row>()
  return results
}

/** Returns the kind and version of each deployment, oldest first. */
export const deploymentsOf = async (tenantName: string): Promise<string[]> =>
  (
    await rowsOf<{ kind: string; version: number }>(
      tenantName,
      'select kind, version from deployment order by rowid',
    )
  ).map(({ kind, version }) => `${kind} ${version}`)

/** Returns the number of databases that no tenant has. */
export async function freeDatabases(): Promise<number> {
  const rows = await env.CONTROL.prepare(`select count(*) as free from pool_database where state = 'free'`)
  return (await rows.first<number>('free'))!
}

/** Inserts a policy of a configuration version, with only what a repair reads. */
export async function insertPolicy(tenantName: string, version: number, product = 'boat'): Promise<void> {
  const tenant = await tenantNamed(tenantName)
  await boundDatabase(tenant!.shards[0]!)
    .prepare(
      `insert into policy (locator, policyholder_locator, product_name, config_version, version, created_at,
         updated_at, original_start, original_end, effective_end, currency, time_zone, payment_schedule_name,
         exposure_count, peril_count)
       values (?, 'holder', ?, ?, 1, 0, 0, 0, 0, 0, 'EUR', 'Europe/Berlin', 'total', 0, 0)`,
    )
    .bind(Math.floor(Math.random() * 1e12), product, version)
    .run()
}
