// The description of every operation. `npm run lint` checks that the document is valid and that its examples match their schemas.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadDocument, loadRoutes } from '../../../scripts/routes.ts'
import { changesPolicy } from '../../../src/platform/http/records.ts'
import type { Example } from '../../../src/platform/http/reference/operations.ts'
import { operationId } from '../../../src/platform/http/reference/operations.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import { examplesOf } from '../../../tools/examples/choose.ts'
import { normalizeExample } from '../../../tools/examples/plain.ts'

type Schema = { properties?: object; items?: Schema; anyOf?: Schema[] }
type Content = Record<string, { example?: unknown; schema?: Schema }>
type Operation = {
  operationId: string
  summary: string
  tags: string[]
  parameters?: { name: string; in: string; example?: unknown }[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content?: Content }>
  'x-access': string
  'x-permission'?: string
  'x-permissions'?: string[]
}
type Document = {
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties?: Record<string, { items?: unknown }> }> }
}

const EXAMPLES = 'src/platform/http/reference/examples.json'

let document: Document
let operations: (Operation & { name: string })[]
beforeAll(async () => {
  document = JSON.parse(await loadDocument())
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, name: `${method} ${path}` })),
  )
}, 180_000)

const statuses = (name: string): string[] => {
  const { responses } = operations.find(one => one.name === name)!
  return Object.keys(responses).filter(status => status !== 'default')
}
/** Splits a name like `post /policy`. */
const wordsOf = (name: string) => {
  const [method, path] = name.split(' ') as [Route['method'], string]
  return { method, path }
}
const hasExample = (content: Content): boolean =>
  Object.values(content).some(({ example }) => example !== undefined)

/** Whether client types would have no name for the record, or for one in a list. */
const isNameless = ({ properties, items, anyOf = [] }: Schema): boolean =>
  properties !== undefined || [...anyOf, ...(items ? [items] : [])].some(isNameless)

test('the schema of migrated elements lists all properties, and refers to itself for nested elements', () => {
  const { ElementMigrationRequest, ChargeMigrationRequest, InstallmentItemMigrationRequest } =
    document.components.schemas
  const { elements, ...others } = ElementMigrationRequest!.properties!
  expect(elements!.items).toEqual({ $ref: '#/components/schemas/ElementMigrationRequest' })
  const own = ['id', 'elementType', 'data', 'coverageTerms', 'charges', 'ended', 'chargedAnew']
  expect(Object.keys(others).sort()).toEqual(own.sort())
  expect(Object.keys(ChargeMigrationRequest!.properties!)).toContain('installmentItems')
  expect(Object.keys(InstallmentItemMigrationRequest!.properties!)).toContain('installmentNumber')
})

describe('Every operation', () => {
  test('has tags that are described', () => {
    const described = document.tags.filter(({ description }) => description).map(({ name }) => name)
    const undescribed = operations.filter(({ tags }) => !tags.every(tag => described.includes(tag)))
    expect(undescribed.map(({ name }) => name)).toEqual([])
  })

  test('has an example of its request and of its response (npm run docs:examples -- test/…)', () => {
    const without = operations.flatMap(({ name, requestBody, responses }) => {
      // A redirect is a response too.
      const good = Object.entries(responses).find(([status]) => /^[23]/.test(status))![1].content
      return [
        ...(requestBody && !hasExample(requestBody.content) ? [`${name}: request`] : []),
        ...(good && !hasExample(good) ? [`${name}: answer`] : []),
      ]
    })
    expect(without).toEqual([])
  })

  test('responds with a named schema of the document', () => {
    const nameless = operations.filter(({ responses }) =>
      Object.entries(responses).some(
        ([status, { content = {} }]) =>
          status.startsWith('2') && Object.values(content).some(({ schema = {} }) => isNameless(schema)),
      ),
    )
    expect(nameless.map(({ name }) => name)).toEqual(['get /health', 'get /ready'])
  })

  test('has in x-permission what its route requires (the access matrix checks the route itself)', async () => {
    const wanted = (await loadRoutes()).map(({ method, path, access }) => {
      const permissions = access.kind === 'public' ? [] : (access.permissions ?? [])
      const alone = access.kind === 'public' ? 'none' : 'signedIn'
      return [`${method} ${path}`, access.kind, permissions.join(' | ') || alone, permissions]
    })
    const said = operations.map(one => [
      one.name,
      one['x-access'],
      one['x-permission'],
      one['x-permissions'] ?? [],
    ])
    const byName = (a: unknown[], b: unknown[]) => (String(a[0]) < String(b[0]) ? -1 : 1)
    expect(said.sort(byName)).toEqual(wanted.sort(byName))
    expect(said.length).toBeGreaterThan(200)
  })

  test('accepts Idempotency-Key and X-Idempotency-Key if it can be repeated, and no other does', () => {
    const both = ['Idempotency-Key', 'X-Idempotency-Key']
    const wrong = operations.filter(({ name, parameters = [], ...one }) => {
      const taken = parameters.filter(({ in: place }) => place === 'header').map(header => header.name)
      const isRepeatable = !name.startsWith('get ') && one['x-access'] !== 'public'
      return both.some(header => taken.includes(header) !== isRepeatable)
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
    expect(operations.some(({ parameters = [] }) => parameters.some(one => one.name === both[1]))).toBe(true)
  })

  test('lists the errors that it can respond with, and no others', () => {
    expect(statuses('get /health')).toEqual(['200', '429', '503'])
    expect(statuses('get /policy/{policyLocator}')).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '406',
      '413',
      '429',
      '503',
    ])
    const issue = document.paths['/policy/{policyLocator}/issue']!.post!.responses
    expect(issue[409]!.description).toContain('`wrongState`')
    expect(issue[404]!.description).toContain('`notFound`')
    const create = document.paths['/policy']!.post!.responses
    expect(create[400]!.description).toContain('`policyValidation`')
  })

  // For all other operations, test/support/exchanges compares the responses met by tests with the document.
  test('lists the errors of plugins, templates and large amounts, even if no test met them', () => {
    const missing = (codes: readonly string[], names: readonly string[]): string[] =>
      names.filter(name => {
        const { description } = operations.find(one => one.name === name)!.responses[422] ?? {}
        return !codes.every(code => description?.includes(`\`${code}\``))
      })
    const changes = operations.filter(({ name }) => changesPolicy(wordsOf(name))).map(({ name }) => name)
    expect(changes.length).toBeGreaterThan(40)
    expect(missing(['amountOutOfRange', 'pluginFailed', 'pluginLimit'], changes)).toEqual([])
    const prices = operations
      .map(({ name }) => name)
      .filter(
        name => /\/(?:price|preview\w*)$/.test(name) && !/(?:cancellations|reinstatements)\//.test(name),
      )
    expect(prices.length).toBeGreaterThan(6)
    expect(missing(['templateFailed', 'templateLimit', 'pluginFailed', 'amountOutOfRange'], prices)).toEqual(
      [],
    )
  })
})

describe('operationId', () => {
  test.each([
    ['get /policies/{policyLocator}/quotes', 'getPolicyQuotes'],
    ['post /policy/{policyLocator}/issue', 'postPolicyIssue'],
    ['get /event/{tenantLocator}/webhooks/list', 'getEventWebhooksList'],
    ['get /event/{tenantLocator}/webhooks/{webhookLocator}', 'getEventWebhook'],
    ['delete /auxData/{locator}/{key}', 'deleteAuxDataByLocatorByKey'],
    ['get /openapi.json', 'getOpenapiJson'],
  ])('of %s is %s', (route, name) => {
    const [method, path] = route.split(' ') as [Route['method'], string]
    expect(operationId({ method, path })).toBe(name)
  })
})

describe('The examples', () => {
  test('are smaller than 60 KiB compressed, because the service carries them', () => {
    expect(gzipSync(readFileSync(EXAMPLES)).length).toBeLessThan(60 * 1_024)
  })

  test('contain no real token, password or secret', () => {
    const text = readFileSync(EXAMPLES, 'utf8')
    const shown = 'bm90IHNob3du'
    for (const [, value] of text.matchAll(/"(?:\w*[pP]assword|\w*[sS]ecret)":"([^"]*)"/g))
      expect(value).toMatch(new RegExp(`^${shown}$|^$`))
    const tokens = [...text.matchAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+|bdy_[\w-]+|whsec_[\w+/=-]+/g)].map(
      match => match[0],
    )
    expect(new Set(tokens).size).toBeLessThanOrEqual(2)
  })

  test('replace values that differ from run to run, and keep those that a test chose', () => {
    const run = (locator: string, at: number): unknown => ({
      locator,
      again: `policy of ${locator}`,
      policyLocator: String(Math.floor(at / 1_000)),
      createdTimestamp: String(at),
      startTimestamp: '1767225600000',
      authorizationToken: `eyJ${at}.eyJ${at}.abc`,
      password: `secret ${at}`,
      url: `http://127.0.0.1:${at % 60_000}/hook`,
    })
    const one = normalizeExample(run('0b7e3c1a-5f0e-4d59-9c58-2f9d0d3c1a77', 1_795_279_626_123))
    const other = normalizeExample(run('9d1f64c2-88aa-4b8e-8f4f-0a6f6fd0c001', 1_795_312_345_678))
    expect(one).toEqual(other)
    expect(one).toMatchObject({ startTimestamp: '1767225600000', url: 'http://example.com/hook' })
    const { locator, again } = one as { locator: string; again: string }
    expect(again).toBe(`policy of ${locator}`)
  })

  test('stay unchanged while tests still produce them, and collect refusals', async () => {
    const routes = (await loadRoutes()).filter(({ path }) => path === '/policyholder/create')
    const asked = (last_name: string) => ({
      method: 'POST',
      path: '/policyholder/create',
      body: { values: { last_name } },
      status: 200,
      answer: { locator: last_name },
    })
    const refused = { ...asked('x'), status: 403, answer: { code: 'forbidden' } }
    const first = examplesOf(routes, [asked('Adler'), asked('Bauer-Conrad')], {})
    const key = 'post /policyholder/create'
    const example: Example = first[key]!
    expect(example.body).toEqual({ values: { last_name: 'Bauer-Conrad' } })
    const second = examplesOf(routes, [asked('A much better example'), asked('Bauer-Conrad'), refused], first)
    expect(second[key]).toEqual({ ...example, refusals: ['forbidden'] })
    const third = examplesOf(routes, [asked('Dietz')], second)
    expect(third[key]).toMatchObject({ answer: { locator: 'Dietz' }, refusals: ['forbidden'] })
  })
})
