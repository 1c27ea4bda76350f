// Every input of the OpenAPI document that has a size: twice the input takes at most twice the work. Requests may be rejected; the
// work of rejecting them counts too.
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { type Api, filledPath, type Operation, readApi } from '../support/openapi.ts'
import { administrator } from '../support/sign-in.ts'
import { size } from '../support/sizes.ts'
import { type Built, type Input, inputsOf } from './inputs.ts'
import { type Cost, DOUBLINGS, disproportion, FIXED_ROWS, TWO_SIZES } from './proportion.ts'
import { firstNameOf, firstUploads, uploadsFor } from './uploads.ts'

const UNKNOWN = '00000000-0000-4000-8000-00000000aa00'

/** The smallest size of each input, which is doubled three times. */
const SMALLEST: Readonly<Record<Input['of'], number>> = { items: 100, keys: 100, characters: 4_000 }
/** The smallest size of texts in a URL. */
const SHORTEST = 500

let motor: Motor
let admin: string
let api: Api
/** Locators for the parameters of paths. */
let known: Readonly<Record<string, string>>

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  const deployed = await motorTenant('growth')
  motor = { ...deployed, token: await deployed.signIn('anna.admin') }
  for (const { path, body } of firstUploads()) {
    await callApi('POST', `/resource/${motor.tenantLocator}/${path}`, { token: motor.token, body })
  }
  const { body: policy } = await deployed.createPolicy()
  known = { policyLocator: policy.locator, policyholderLocator: policy.policyholderLocator }
  admin = await administrator()
  api = await readApi()
})

/** Rows that D1 read and wrote for the response (platform/calls.ts). The response to a failed sign-in does not state them. */
function rowsOf(headers: Headers, status: number): number {
  if (status === 401) return 0
  const [, read, written] = /rows;desc="(\d+) read, (\d+) written"/.exec(headers.get('server-timing') ?? '')!
  return Number(read) + Number(written)
}

function locatorOf(operation: Operation, name: string): string {
  if (name === 'tenantLocator') return motor.tenantLocator
  return name === 'name' ? firstNameOf(operation.path) : (known[name] ?? UNKNOWN)
}

/** Calls the operation. Path parameters that are not given get the locator of an existing record, if there is one. */
const call = (operation: Operation, { body, query, path }: Built) => {
  const filled = filledPath(operation.path, name => path?.[name] ?? locatorOf(operation, name))
  return callApi(operation.method, query ? `${filled}?${query}` : filled, {
    token: operation.access === 'administration' ? admin : motor.token,
    ...(operation.method !== 'GET' && { body }),
  })
}

async function costOf(operation: Operation, built: Built): Promise<Cost> {
  const begun = performance.now()
  const { status, headers } = await call(operation, built)
  const ms = performance.now() - begun
  expect(status, nameOf(operation)).toBeLessThan(500)
  return { ms, rows: rowsOf(headers, status) }
}

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

/** Whether an operation accepts anything other than JSON. */
const takesUploads = ({ mediaTypes }: Operation): boolean =>
  mediaTypes.some(type => type !== 'application/json')

/** Descriptions of the inputs whose cost is out of proportion. */
async function disproportions(
  operation: Operation,
  inputs: readonly (Input & { smallest: number })[],
): Promise<string[]> {
  const wrong: string[] = []
  for (const { name, smallest, build } of inputs) {
    const found = await disproportion(smallest, size(TWO_SIZES, DOUBLINGS), size =>
      costOf(operation, build(size)),
    )
    if (found) wrong.push(`${nameOf(operation)}, ${name}: ${found}`)
  }
  return wrong
}

const smallestOf = ({ name, of }: Input): number =>
  /^(?:path|query) /.test(name) && of === 'characters' ? SHORTEST : SMALLEST[of]

/** Far more than the half minute on an idle machine, because a busy one takes much longer. */
const PATIENCE_MS = 600_000

describe('The work of a request', { timeout: PATIENCE_MS }, () => {
  it('grows in proportion to each input of the OpenAPI document', async () => {
    const wrong: string[] = []
    for (const operation of api.operations) {
      const inputs = inputsOf(operation, api.resolve)
      wrong.push(
        ...(await disproportions(
          operation,
          inputs.map(input => ({ ...input, smallest: smallestOf(input) })),
        )),
      )
    }
    expect(wrong).toEqual([])
  })

  it('grows in proportion to each upload', async () => {
    const wrong: string[] = []
    for (const operation of api.operations.filter(takesUploads)) {
      const own = uploadsFor(operation.method, operation.path)
      if (own) wrong.push(...(await disproportions(operation, own)))
      else wrong.push(`${nameOf(operation)} takes an upload that uploads.ts lacks`)
    }
    expect(wrong).toEqual([])
  })

  it('for a page of a list does not grow with the list', async () => {
    const lists = api.operations.filter(
      ({ method, path, parameters }) =>
        method === 'GET' &&
        parameters.some(({ name }) => name === 'pageSize' || name === 'count') &&
        !/\{(?!tenantLocator\})/.test(path),
    )
    expect(lists.length).toBeGreaterThan(10)
    const rowsOfPages = async (): Promise<number[]> => {
      const pages: number[] = []
      for (const operation of lists)
        pages.push((await costOf(operation, { query: 'pageSize=3&count=3' })).rows)
      return pages
    }
    const grow = async (more: number): Promise<void> => {
      for (let made = 0; made < more; made += 1) {
        const { body: policy } = await motor.createPolicy()
        const { body: issued } = await motor.post(`/policy/${policy.locator}/issue`)
        const paid = await motor.post(`/invoice/${issued.invoices[0]!.locator}/pay`, {
          fieldValues: { method: 'card' },
        })
        expect(paid.status).toBe(200)
      }
      for (let made = 0; made < more; made += 1) await motor.newPolicyholder()
    }
    await grow(6)
    const before = await rowsOfPages()
    await grow(42)
    const after = await rowsOfPages()
    const grown = lists.flatMap((operation, at) =>
      after[at]! > 1.5 * before[at]! + FIXED_ROWS
        ? [`${nameOf(operation)}: ${before[at]}, then ${after[at]} rows`]
        : [],
    )
    expect(grown).toEqual([])
  })
})
