// What the compiler says of calls of the typed client: nothing where they are right, and names that a reader knows where they are wrong.
import { describe, expect, test } from 'vitest'
import { literal, type SampledOperation } from '../../console/reference/samples.ts'
import { loadDocument } from '../../scripts/routes.ts'
import { compile } from '../support/compile.ts'

type Operation = SampledOperation & { operationId: string }
type Document = { paths: Record<string, Record<string, Operation>> }

const CLIENT = `import { createClient } from 'bindery/client'
const bindery = createClient({ baseUrl: 'https://bindery.example.com' })`

test('a body may be held in a variable, and be constant', async () => {
  const { paths } = JSON.parse(await loadDocument()) as Document
  const programs = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.example
      if (body === undefined) return []
      const names = parameters.filter(one => one.in === 'path').map(({ name }) => [name, 'x'])
      const params = names.length > 0 ? `params: { path: ${literal(Object.fromEntries(names))} }, ` : ''
      const call = (name: string): string => `await bindery.${method}('${path}', { ${params}body: ${name} })`
      const lines = [
        ...[CLIENT, `const body = ${literal(body)}`, call('body')],
        ...[`const constant = ${literal(body)} as const`, call('constant')],
      ]
      return [[operationId, lines.join('\n')]]
    }),
  )
  expect(programs.length).toBeGreaterThan(70)
  expect(await compile(Object.fromEntries(programs))).toBe('')
})

describe('the compiler says', () => {
  const said = (...lines: string[]): Promise<string> => compile({ call: [CLIENT, ...lines].join('\n') })

  test('which record a body is to be, and which property is wrong', async () => {
    const body = "const body = { policyholderLocator: 5, productName: 'boat' }"
    const text = await said(body, "await bindery.post('/policy', { body })")
    expect(text).toContain("is not assignable to type 'PolicyCreateRequest'")
    expect(text).toContain("Types of property 'policyholderLocator' are incompatible")
    expect(text.length).toBeLessThan(400)
  })

  test('that a property is unknown, and which one was meant', async () => {
    const text = await said(
      "await bindery.post('/policy', { body: { policyholderLocator: 'a', productName: 'b', exposure: [] } })",
    )
    expect(text).toContain(
      "'exposure' does not exist in type 'PolicyCreateRequest'. Did you mean to write 'exposures'?",
    )
  })

  test('that an answer has no such property, and that parameters are missing', async () => {
    const text = await said(
      "const policy = await bindery.get('/policy/{policyLocator}', { params: { path: { policyLocator: '1' } } })",
      'policy.nothing',
      "await bindery.get('/policy/{policyLocator}')",
    )
    expect(text).toContain("Property 'nothing' does not exist on type 'PolicyResponse'")
    expect(text).toContain('Expected 2 arguments, but got 1')
  })

  test('nothing of records by their names, and of answers that are read as files', async () => {
    const text = await said(
      "import type { PolicyCreateRequest, PolicyResponse } from 'bindery/client'",
      "const body: PolicyCreateRequest = { policyholderLocator: 'a', productName: 'boat' }",
      "const policy: PolicyResponse = await bindery.post('/policy', { body })",
      "const file: Blob = await bindery.post('/policy', { body, parseAs: 'blob' })",
      'console.log(policy.locator, file.size)',
    )
    expect(text).toBe('')
  })
})
