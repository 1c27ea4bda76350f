// Prepares the data of the service before measurements: the example's tenant with some policyholders and policies, a table and a
// constraint table.
import { randomBytes } from 'node:crypto'
import { prepareAdministrator } from '../../scripts/administrator.ts'
import { type ApiClient, type Credentials, signIn } from '../../scripts/api-client.ts'
import { buildBundles } from '../../scripts/bundles.ts'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { openLocalDatabases, prepareLocalDatabases } from '../../scripts/local-databases.ts'
import { writeRouteIndex } from '../../scripts/route-index.ts'
import { completeSecrets, readSecrets } from '../../scripts/settings.ts'
import { writeConfig } from '../../scripts/write-config.ts'
import { benchFiles, deployFiles } from './example-tenant.ts'
import type { World } from './operations.ts'

/** Records that are read in turn. */
export type Records = {
  policyholder: string[]
  policy: string[]
  largePolicy: string[]
  /** A quote and one of its exposures, separated by `~`. */
  constrained: string[]
}

const RECORDS = 20
const LARGE_EXPOSURES = 1_000
const TABLE_ROWS = 20_000

/** Databases of the pool: one for the measured tenant, one for the tenant that is deployed, and one spare. */
const DATABASES = 3

/** Creates the databases in the folder, `databases` of them for tenants. Returns the account that may deploy. */
export async function prepareStores(dataFolder: string, databases = DATABASES): Promise<Credentials> {
  completeSecrets()
  writeConfig()
  await writeRouteIndex()
  await buildBundles()
  const local = openLocalDatabases(dataFolder)
  try {
    await prepareLocalDatabases(local, () => undefined, databases)
    const account = { username: 'administrator', password: randomBytes(15).toString('base64url') }
    await prepareAdministrator(local.control, readSecrets().PASSWORD_PEPPER!, account, true)
    return account
  } finally {
    await local.close()
  }
}

/** Deploys the example and fills its tenant. */
export async function fill(
  origin: string,
  administrator: Credentials,
): Promise<{ world: World; records: Records }> {
  const deployer = await signIn(origin, administrator)
  const archive = benchFiles()
  const { hostname, tenantLocator } = await deployFiles(deployer, 'motor', archive)
  const credentials = userOf(hostname, 'agent')
  const user = await signIn(origin, credentials)
  const admin = await signIn(origin, userOf(hostname, 'admin'))
  await fillResources(admin, `/resource/${tenantLocator}`)

  const { policyholder, policy } = workedPolicies()[0]!.request
  const body = { completed: true, ...policyholder }
  const records: Records = { policyholder: [], policy: [], largePolicy: [], constrained: [] }
  for (let at = 0; at < RECORDS; at += 1) {
    const holder = await user.call<{ locator: string }>('POST', '/policyholder/create', body)
    records.policyholder.push(holder.locator)
    records.policy.push((await made(user, { ...policy, policyholderLocator: holder.locator })).locator)
  }
  // Fills a page of the event stream: issuing each of these policies adds two events.
  for (const locator of records.policy) await user.call('POST', `/policy/${locator}/issue`)
  const [policyholderLocator] = records.policyholder as [string]
  const [vehicle] = policy.exposures as { fieldValues: object }[]
  const large = { ...policy, policyholderLocator, exposures: Array(LARGE_EXPOSURES).fill(vehicle) }
  records.largePolicy.push((await made(user, large)).locator)
  const constrained = { ...vehicle!, fieldValues: { ...vehicle!.fieldValues, make: 'make 1' } }
  const draft = await made(user, {
    ...policy,
    policyholderLocator,
    exposures: [constrained],
    finalize: false,
  })
  const [quote] = await user.call<{ locator: string }[]>('GET', `/policies/${draft.locator}/quotes`)
  records.constrained.push(`${quote!.locator}~${draft.exposures[0]!.locator}`)
  return {
    world: {
      token: user.token,
      adminToken: admin.token,
      deployerToken: deployer.token,
      credentials,
      tenantLocator,
      policyholderLocator,
      policyholder: body,
      policy,
      start: Number(policy.policyStartTimestamp),
      end: Number(policy.policyEndTimestamp),
      archive,
      tableRows: TABLE_ROWS,
    },
    records,
  }
}

/** Uploads a table of points, and a constraint table of 100 makes with 5 models each. */
async function fillResources(admin: ApiClient, root: string): Promise<void> {
  const points = Array.from({ length: TABLE_ROWS }, (_, at) => `k${at},${at}`)
  await upload(admin, `${root}/tables?name=points&staticName=points`, ['key,value', ...points])
  const models = Array.from({ length: 500 }, (_, at) => `make ${at % 100},model ${at}`)
  await upload(admin, `${root}/constraints?name=vehicles&staticName=vehicles`, ['make,model', ...models])
  await admin.call('POST', `${root}/groups`, {
    name: 'bench',
    selectionStartTime: '2026-01-01T00:00:00Z',
    resourceNames: ['points', 'vehicles'],
  })
}

async function upload(admin: ApiClient, path: string, lines: readonly string[]): Promise<void> {
  const form = new FormData()
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'table.csv')
  await admin.call('POST', path, form)
}

const made = (user: ApiClient, body: object) =>
  user.call<{ locator: string; exposures: { locator: string }[] }>('POST', '/policy', body)

function userOf(hostName: string, role: string): Required<Credentials> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return { username, password, hostName }
}
