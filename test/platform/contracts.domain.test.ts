// Rules for every contract.

import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as audit from '../../src/access/audit/contract.ts'
import * as accounts from '../../src/access/contract.ts'
import * as auxData from '../../src/extension/auxdata/contract.ts'
import * as integrations from '../../src/extension/integrations/contract.ts'
import * as pluginLogs from '../../src/extension/plugins/contract-log.ts'
import * as errors from '../../src/platform/http/error-contract.ts'
import * as billing from '../../src/policy/contract/billing.ts'
import * as documents from '../../src/policy/contract/documents.ts'
import * as policies from '../../src/policy/contract/requests.ts'
import * as policyResponses from '../../src/policy/contract/response.ts'
import * as policyholders from '../../src/policyholders/contract.ts'
import * as priceChanges from '../../src/rating/contract-change.ts'
import * as calculations from '../../src/servicing/calculations/contract.ts'
import * as events from '../../src/servicing/events/stream/contract.ts'
import * as webhooks from '../../src/servicing/events/webhooks/contract.ts'
import * as configuration from '../../src/tenants/deployment/contract.ts'
import * as tenants from '../../src/tenants/routes.ts'
import * as cancellations from '../../src/transactions/cancellations/contract.ts'
import * as endorsements from '../../src/transactions/endorsements/contract.ts'
import * as lapses from '../../src/transactions/lapses/contract.ts'
import * as reinstatements from '../../src/transactions/reinstatements/contract.ts'
import * as renewals from '../../src/transactions/renewals/contract.ts'
import { size } from '../support/sizes.ts'

const SEED = 20261121

const exported: [string, z.ZodType][] = [
  ...[accounts, billing, configuration, documents, events, webhooks, errors],
  ...[policies, policyResponses, policyholders, priceChanges],
  ...[cancellations, endorsements, reinstatements, renewals, tenants, lapses, auxData, pluginLogs],
  ...[audit, calculations, integrations],
].flatMap(contract =>
  Object.entries(contract).filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType),
)

const isRead = (name: string): boolean => /(Request|Form|Query)$/.test(name)
const read = exported.filter(([name]) => isRead(name))
const answered = exported.filter(([name]) => name.endsWith('Response'))

/** The component schemas of a document with one route for each record. */
function components(): Record<string, unknown> {
  const app = new OpenAPIHono()
  for (const [index, [name, schema]] of exported.entries()) {
    if (!/(Request|Response)$/.test(name)) continue
    const content = { 'application/json': { schema } }
    app.openAPIRegistry.registerPath(
      createRoute({
        method: 'post',
        path: `/${index}`,
        request: isRead(name) ? { body: { content } } : {},
        responses: { 200: isRead(name) ? { description: name } : { description: name, content } },
      }),
    )
  }
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'test', version: '1' } })
  return document.components?.schemas ?? {}
}

test('every request and response is a component under its own name', () => {
  const names = exported.map(([name]) => name).filter(name => /(Request|Response)$/.test(name))
  expect(new Set(names).size).toBe(names.length)
  expect(Object.keys(components())).toEqual(expect.arrayContaining(names))
})

test('the document refers only to components that it contains', () => {
  const schemas = components()
  const referred = JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/(\w+)"/g)
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...referred].map(match => match[1])))
})

test('no component is nullable: each has a single type', () => {
  for (const [name, component] of Object.entries(components()))
    expect([name, (component as { type?: unknown }).type]).toEqual([name, expect.any(String)])
})

/** Whether parsing with the schema could change its input. */
function transforms(schema: z.core.$ZodType, seen = new Set<z.core.$ZodType>()): boolean {
  if (seen.has(schema)) return false
  seen.add(schema)
  const def = schema._zod.def as unknown as Record<string, unknown> & { type: string; shape?: object }
  if (['transform', 'pipe', 'default', 'prefault', 'catch', 'custom'].includes(def.type)) return true
  const parts = [
    def.innerType,
    def.element,
    def.keyType,
    def.valueType,
    ...((def.options as unknown[]) ?? []),
  ]
  return [...parts, ...Object.values(def.shape ?? {})].some(
    part => part !== undefined && transforms(part as z.core.$ZodType, seen),
  )
}

test.each(answered)('%s is a plain type that parsing does not transform', (_name, schema) => {
  expect(transforms(schema)).toBe(false)
})

/** The record schema inside a pipe or transform. */
function record(schema: z.core.$ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema
  if (!(schema instanceof z.ZodPipe)) throw new Error(`${schema._zod.def.type} holds no record`)
  return record(schema.def.out instanceof z.ZodTransform ? schema.def.in : schema.def.out)
}

describe.each(read)('%s', (_name, schema) => {
  test(`accepts or rejects any input without an internal error, and reports each problem with its place (seed ${SEED})`, () => {
    const anything = fc.jsonValue({ maxDepth: 3 })
    const names = fc.constantFrom(...Object.keys(record(schema).shape))
    fc.assert(
      fc.property(fc.oneof(anything, fc.dictionary(names, anything)), wire => {
        const { error } = schema.safeParse(wire)
        for (const issue of error?.issues ?? []) expect(issue.message).toMatch(/^('|The request ).*\.$/s)
      }),
      { seed: SEED, numRuns: size(60, 200) },
    )
  })

  test('reads null for an optional property as if the property were absent', () => {
    for (const property of Object.values(record(schema).shape) as z.ZodType[]) {
      const absent = property.safeParse(undefined)
      if (absent.success) expect(property.safeParse(null)).toEqual(absent)
    }
  })
})
