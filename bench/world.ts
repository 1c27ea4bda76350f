// What the service holds before anything is measured: the example's tenant with some policyholders and policies.
import { randomBytes } from 'node:crypto'
import { prepareAdministrator } from '../scripts/administrator.ts'
import { type ApiClient, type Credentials, signIn } from '../scripts/api-client.ts'
import { buildBundles } from '../scripts/bundles.ts'
import { openStores } from '../scripts/databases.ts'
import { type DeployedExample, deployExample, testUsers, workedPolicies } from '../scripts/example.ts'
import { readPool } from '../scripts/pool-file.ts'
import { prepareControl, prepareTenantDatabases } from '../scripts/prepare-databases.ts'
import { writeRouteIndex } from '../scripts/route-index.ts'
import { completeSecrets, readSecrets } from '../scripts/settings.ts'
import { writeConfig } from '../scripts/write-config.ts'
import type { World } from './operations.ts'

/** Records that are read in turn. */
export type Records = { policyholder: string[]; policy: string[] }

const RECORDS = 20

/** Databases of the pool: the example's tenant takes one. */
const DATABASES = 2

/** Makes the databases in the folder; the account that may deploy. */
export async function prepareStores(dataFolder: string): Promise<Credentials> {
  completeSecrets()
  writeConfig()
  await writeRouteIndex()
  await buildBundles()
  const stores = await openStores(dataFolder)
  try {
    const control = stores.target('CONTROL')
    await prepareControl(control)
    const pool = readPool().slice(0, DATABASES)
    await prepareTenantDatabases(control, pool, stores.target, () => undefined)
    const account = { username: 'administrator', password: randomBytes(15).toString('base64url') }
    await prepareAdministrator(stores.env.CONTROL, readSecrets().PASSWORD_PEPPER!, account, true)
    return account
  } finally {
    await stores.close()
  }
}

/** Deploys the example and fills its tenant. */
export async function fill(
  origin: string,
  administrator: Credentials,
  dataFolder: string,
): Promise<{ world: World; records: Records }> {
  const example = await deployExample(await signIn(origin, administrator), dataFolder)
  const credentials = credentialsOf(example)
  const user = await signIn(origin, credentials)
  const { policyholder, policy } = workedPolicies()[0]!.request
  const body = { completed: true, ...policyholder }
  const records: Records = { policyholder: [], policy: [] }
  for (let at = 0; at < RECORDS; at += 1) {
    const holder = await created(user, '/policyholder/create', body)
    records.policyholder.push(holder)
    records.policy.push(await created(user, '/policy', { ...policy, policyholderLocator: holder }))
  }
  // A page of the event stream is full when it is read: each of these policies is two events more.
  for (const locator of records.policy) await user.call('POST', `/policy/${locator}/issue`)
  const [policyholderLocator] = records.policyholder as [string]
  return {
    world: { token: user.token, credentials, policyholderLocator, policyholder: body, policy },
    records,
  }
}

const created = async (user: ApiClient, path: string, body: unknown): Promise<string> =>
  (await user.call<{ locator: string }>('POST', path, body)).locator

function credentialsOf({ hostname }: DeployedExample): Required<Credentials> {
  const { username, password } = testUsers()[0]!
  return { username, password, hostName: hostname }
}
