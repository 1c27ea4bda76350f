// The tenant of examples/home, in which the municipality depends on the state, and one document cannot be made until it is
// repaired.
import { readFileSync } from 'node:fs'
import { unzipSync, zipSync } from 'fflate'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { deployTestTenant, zipOf } from '../../scripts/example.ts'
import type { Service } from '../support/service-process.ts'

const POLICY = 'products/homeowners/policy'
const LETTER = { broken: '<p>{{ 1 | divided_by: 0 }}</p>', repaired: '<p>Welcome</p>' }

function archive(letter: string): Blob {
  const files: Record<string, Uint8Array> = unzipSync(zipOf('examples/home/configuration'))
  const change = (path: string, changed: (content: Record<string, unknown>) => object): void => {
    const content = JSON.parse(new TextDecoder().decode(files[path])) as Record<string, unknown>
    files[path] = new TextEncoder().encode(JSON.stringify(changed(content)))
  }
  change('config.json', config => ({
    ...config,
    constraintTables: { places: { columns: { state: { makeDistinct: true }, code: {} } } },
  }))
  change(`${POLICY}/policy.json`, ({ fields, ...policy }) => ({
    ...policy,
    fields: (fields as { name: string }[]).map(one =>
      one.name === 'municipality'
        ? { ...one, constraint: { table: 'places', column: 'code', where: { state: { key: 'state' } } } }
        : one,
    ),
    // No other documents, because they take time.
    documents: [
      {
        displayName: 'Welcome',
        fileName: 'welcome.html',
        type: 'html',
        generatingEvent: 'issue',
        templateName: 'welcome.template.liquid',
      },
    ],
  }))
  files[`${POLICY}/welcome.template.liquid`] = new TextEncoder().encode(letter)
  delete files[`${POLICY}/invoice.template.liquid`]
  return new Blob([new Uint8Array(zipSync(files))], { type: 'application/zip' })
}

const formOf = (parts: Readonly<Record<string, string | Blob>>): FormData => {
  const form = new FormData()
  for (const [name, part] of Object.entries(parts)) form.set(name, part)
  return form
}

export type HomeTenant = {
  readonly hostName: string
  readonly admin: ApiClient
  /** The policyholder of the example. */
  readonly holder: string
  /** Deploys the letter that can be made, in place of the one that cannot. */
  repair(): Promise<void>
}

/** Deploys the tenant, with the states and municipalities of the example's table as a constraint table in force. */
export async function deployHome(service: Service): Promise<HomeTenant> {
  const administration = await service.administration()
  const deployed = await deployTestTenant(administration, 'home', archive(LETTER.broken))
  const { hostname: hostName, tenantLocator, tenantName } = deployed
  const admin = await signIn(service.origin, { username: 'adam.admin', password: 'password', hostName })
  const rows = readFileSync(
    'examples/home/configuration/products/homeowners/policy/tables/municipalities.csv',
    'utf8',
  )
    .trim()
    .split('\n')
    .slice(1)
    .map(line => `${line.split(',').at(-1)},${line.split(',')[0]}`)
  await admin.call(
    'POST',
    `/resource/${tenantLocator}/constraints?name=places_first&staticName=places`,
    formOf({ file: new Blob([['state,code', ...rows].join('\n')]) }),
  )
  await admin.call('POST', `/resource/${tenantLocator}/groups`, {
    name: 'first',
    selectionStartTime: 0,
    resourceNames: ['places_first'],
  })
  const [plain] = JSON.parse(readFileSync('examples/home/worked.json', 'utf8')) as [
    { request: { policyholder: { values: object } } },
  ]
  const { locator: holder } = await admin.call<{ locator: string }>('POST', '/policyholder/create', {
    completed: true,
    values: plain.request.policyholder.values,
  })
  return {
    hostName,
    admin,
    holder,
    async repair() {
      await administration.call(
        'POST',
        '/configuration/studio/repair',
        formOf({ tenantName, version: '1', zipFile: archive(LETTER.repaired) }),
      )
    },
  }
}
