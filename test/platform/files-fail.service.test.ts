// Failures of the file store (R2): what the client is told, and what a repeated request finds.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, expect, it } from 'vitest'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { archiveOf, deployForm, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

type Methods = Record<string, (this: object, ...given: never[]) => Promise<unknown>>

const methods = Object.getPrototypeOf(env.FILES) as Methods
const own = { put: methods.put!, list: methods.list! }

/** Makes every call of the method fail before it has an effect. */
function fails(name: 'put' | 'list'): void {
  methods[name] = () => Promise.reject(new Error(`${name}: We encountered an internal error. (10001)`))
}

const works = () => Object.assign(methods, own)
afterEach(works)

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('files')
})

const NOTHING_CHANGED = 'File storage failed, and nothing was changed. Try again in a second.'

type Problem = { code: string; message: string }
const refused = async (method: string, path: string, call: object = {}) => {
  const { status, body, headers } = await callApi<Problem>(method, path, { token: motor.token, ...call })
  return { status, code: body.code, message: body.message, after: headers.get('retry-after') }
}

const unavailable = { status: 503, code: 'unavailable', after: '1' }

it('a failed upload responds with 503, reports that nothing was changed, and succeeds when repeated', async () => {
  const body = new FormData()
  body.set('file', new Blob(['a photograph']), 'front.jpg')
  const headers = { 'idempotency-key': 'front' }
  fails('put')
  expect(await refused('POST', '/media', { body, headers })).toEqual({
    ...unavailable,
    message: NOTHING_CHANGED,
  })
  works()
  const again = await callApi<{ locator: string }>('POST', '/media', { token: motor.token, body, headers })
  expect(again.status).toBe(200)
})

it('a deployment that cannot store its files responds with 503 and leaves the version unchanged', async () => {
  const versions = () =>
    callApi<{ configVersion: string }[]>('GET', '/deployments/versions', { token: motor.token })
  const before = (await versions()).body
  const files = motorWithoutPapers()
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array)) as object
  files['config.json'] = JSON.stringify({ ...config, improvedRating: false })
  fails('put')
  const token = await administrator()
  const body = deployForm(archiveOf(files), { tenantNameSuffix: 'files' })
  expect(await refused('POST', '/configuration/deployTest', { token, body })).toMatchObject(unavailable)
  works()
  expect((await versions()).body).toEqual(before)
})

it('a deletion that fails after its commit does not claim that nothing was changed', async () => {
  const token = await motor.signIn('anna.admin')
  const { body } = await callApi<ReportStatusResponse>('POST', '/report/ledger?wait=20', {
    token,
    body: { from: 0, to: Date.now() },
  })
  fails('list')
  const path = `/reports/${body.locator}`
  const failed = await refused('DELETE', path, { token, headers: { 'idempotency-key': 'removal' } })
  expect(failed).toMatchObject(unavailable)
  expect(failed.message).not.toContain('changed')
  works()
  const again = await callApi('DELETE', path, { token, headers: { 'idempotency-key': 'removal' } })
  expect(again.status).toBeLessThan(300)
})
