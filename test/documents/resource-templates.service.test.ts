// Documents whose template is only a resource: not in a file of the configuration, but provided by the archive's resources for a
// new tenant, or uploaded before the deploy that names it.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { readTenant, shardName } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import { dispatchDue } from '../../src/servicing/events/dispatch.ts'
import type { ConfigurationValidationResponse } from '../../src/tenants/deployment/contract.ts'
import { callsOf, deploy as deployed } from '../product/deploying.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, archiveOf, type DeployAnswer, deployForm } from '../support/examples.ts'
import { type Plain, plainFiles, plainTenant } from '../support/plain-product.ts'
import { administrator } from '../support/sign-in.ts'
import { fileAt, whenMade } from './waiting.ts'

const POLICY = 'products/plain/policy/policy.json'
const AT = 'bootstrap/resources'
const OPTIONS = { timezone: 'UTC' }
const YEAR_2035 = { start: Date.UTC(2035, 0, 1), end: Date.UTC(2036, 0, 1) }

/** A policy.json with one document for each template. */
const documentsOf = (...templateNames: string[]): ArchiveFiles => {
  const policy = JSON.parse(plainFiles(OPTIONS)[POLICY] as string)
  const documents = templateNames.map(templateName => ({
    fileName: `${templateName}.html`,
    templateName,
    type: 'html',
  }))
  return { [POLICY]: JSON.stringify({ ...policy, documents }) }
}

const BROUGHT: ArchiveFiles = {
  [`${AT}/config.json`]: JSON.stringify({
    resourceInstances: { letter_1: { staticName: 'letter' } },
    resourceGroups: { first: { selectionStartTime: '2020-01-01T00:00:00Z', resourceNames: ['letter_1'] } },
  }),
  [`${AT}/resourceFiles/documentTemplates/letter_1.liquid`]: 'Letter of {{ data.policy.product_name }}',
}

const sent = async <Body>(path: string, fields: Record<string, string>, files: ArchiveFiles): Promise<Body> =>
  callOk('POST', path, {
    token: await administrator(),
    body: deployForm(archiveOf({ ...plainFiles(OPTIONS), ...files }), fields),
  })

/** Users who may also upload resources. */
const USERS: ArchiveFiles = {
  'security/test_users.json': JSON.stringify([
    { username: 'alice', name: 'Alice', password: 'password', roles: ['admin'] },
  ]),
}

const deploy = (suffix: string, files: ArchiveFiles) =>
  sent<DeployAnswer>('/configuration/deployTest', { tenantNameSuffix: suffix }, files)

/** The D1 round trips of a deploy. */
async function tripsOf(tenantNameSuffix: string, files: ArchiveFiles): Promise<number> {
  const archive = { ...plainFiles(OPTIONS), ...files }
  return callsOf(await deployed('/configuration/deployTest', { tenantNameSuffix }, archive), 'd1')
}

/** The text of the document of an issued policy, or its failure. */
async function paperOf(plain: Plain, fileName: string): Promise<string> {
  const { locator } = await plain.issue(YEAR_2035, '100')
  const { documents } = await whenMade(
    () => plain.ok<PolicyResponse>('GET', `/policy/${locator}`),
    one => one.documents,
  )
  const { state, failureMessage, url } = documents.find(one => one.fileName === fileName)!
  return state === 'ready'
    ? new TextDecoder().decode((await fileAt(url!)).bytes)
    : `${state}: ${failureMessage}`
}

beforeAll(() => prepareDatabases({ tenants: 2 }))

it('a new tenant can name a template that its archive provides as a resource, and documents use it', async () => {
  const refused = await deploy('brought', { ...documentsOf('letter', 'lettre'), ...BROUGHT })
  expect(refused.success).toBe(false)
  expect(refused.logfile.match(/^ERROR.*/gm)).toEqual([
    expect.stringMatching(/^ERROR products\/plain\/policy\/policy\.json:\d+:\d+ missingTemplate .*'lettre'/),
  ])
  const plain = await plainTenant('brought', OPTIONS, { ...documentsOf('letter'), ...BROUGHT })
  expect(plain.logfile).not.toContain('missingTemplate')
  const tenant = await readTenant(env, { locator: plain.tenantLocator as Uuid }, noCalls())
  await dispatchDue(env, shardName(tenant!, 0))
  expect(await paperOf(plain, 'letter.html')).toBe('Letter of plain')
})

it('deploy and validate reject a missing template until the tenant has it as a resource', async () => {
  const plain = await plainTenant('uploaded', OPTIONS, USERS)
  const files = { ...documentsOf('letter'), ...USERS }
  const { tenantName } = plain
  const validate = (fields: Record<string, string>) =>
    sent<ConfigurationValidationResponse>('/configuration/validate', fields, files)
  const ofTemplates = ({ findings }: ConfigurationValidationResponse) =>
    findings.filter(({ code }) => code === 'missingTemplate').map(({ severity }) => severity)
  expect((await deploy('uploaded', files)).success).toBe(false)
  expect(ofTemplates(await validate({ tenantName }))).toEqual(['ERROR'])
  expect(ofTemplates(await validate({}))).toEqual(['WARNING'])
  const base = `/resource/${plain.tenantLocator}`
  await callOk('POST', `${base}/templates/liquid?name=letter_1&staticName=letter`, {
    token: plain.token,
    body: 'Letter {{ data.policy.locator }}',
    headers: { 'content-type': 'text/plain' },
  })
  expect(ofTemplates(await validate({ tenantName }))).toEqual([])
  const { success, logfile } = await deploy('uploaded', files)
  expect([success, logfile.includes('missingTemplate')]).toEqual([true, false])
  // One read more than for an archive that has all its templates.
  expect([await tripsOf('uploaded', USERS), await tripsOf('uploaded', files)]).toEqual([4, 5])
  expect(await paperOf(plain, 'letter.html')).toMatch(/^dataError: .*none is in force as a resource/)
  await plain.ok('POST', `${base}/groups`, {
    name: 'first',
    selectionStartTime: '2020-01-01T00:00:00Z',
    resourceNames: ['letter_1'],
  })
  expect(await paperOf(plain, 'letter.html')).toMatch(/^Letter \d+$/)
})
