// What the compiler reports for calls of the typed client: nothing for correct ones, and names that a reader knows for wrong
// ones.
import { beforeAll, describe, expect, test } from 'vitest'
import { literal, type SampledOperation } from '../../console/reference/samples.ts'
import { loadDocument } from '../../scripts/routes.ts'
import { compile } from '../support/compile.ts'

type Operation = SampledOperation & { operationId: string }
type Document = { paths: Record<string, Record<string, Operation>> }

const CLIENT = `import { createClient } from 'bindery/client'
const bindery = createClient({ baseUrl: 'https://bindery.example.com' })`

const WRONG = {
  record: [
    "const body = { policyholderLocator: 5, productName: 'boat' }",
    "await bindery.post('/policy', { body })",
  ],
  unknown: [
    "await bindery.post('/policy', { body: { policyholderLocator: 'a', productName: 'b', exposure: [] } })",
  ],
  answer: [
    "const policy = await bindery.get('/policy/{policyLocator}', { params: { path: { policyLocator: '1' } } })",
    'policy.nothing',
    "await bindery.get('/policy/{policyLocator}')",
  ],
  right: [
    "import type { PolicyCreateRequest, PolicyResponse } from 'bindery/client'",
    "const body: PolicyCreateRequest = { policyholderLocator: 'a', productName: 'boat' }",
    "const policy: PolicyResponse = await bindery.post('/policy', { body })",
    "const file: Blob = await bindery.post('/policy', { body, parseAs: 'blob' })",
    'console.log(policy.locator, file.size)',
  ],
}

/** Returns a program for each operation with a body, with its example in a variable and as a constant. */
async function exampleBodies(): Promise<Record<string, string>> {
  const { paths } = JSON.parse(await loadDocument()) as Document
  const programs = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.example
      if (body === undefined) return []
      const names = parameters.filter(one => one.in === 'path').map(({ name }) => [name, 'x'])
      const params = names.length > 0 ? `params: { path: ${literal(Object.fromEntries(names))} }, ` : ''
      const call = (name: string): string => `await bindery.${method}('${path}', { ${params}body: ${name} })`
      const lines = [
        CLIENT,
        `const body = ${literal(body)}`,
        call('body'),
        `const constant = ${literal(body)} as const`,
        call('constant'),
      ]
      return [[operationId, lines.join('\n')]]
    }),
  )
  return Object.fromEntries(programs)
}

let bodies: Record<string, string>
/** The output of the compiler, which reads the client's types once for all programs. */
let all: string

beforeAll(async () => {
  bodies = await exampleBodies()
  const wrong = Object.entries(WRONG).map(([name, lines]) => [`call-${name}`, [CLIENT, ...lines].join('\n')])
  all = await compile({ ...bodies, ...Object.fromEntries(wrong) })
})

/** Returns the output for one of the programs: its line, and the indented lines below it. */
const saidOf = (program: keyof typeof WRONG): string =>
  all
    .split(/\n(?=\S)/)
    .filter(one => one.startsWith(`call-${program}.ts`))
    .join('\n')

test('a body may be in a variable, and may be constant', () => {
  expect(Object.keys(bodies).length).toBeGreaterThan(70)
  expect(all.split('\n').filter(line => /^\S/.test(line) && !line.startsWith('call-'))).toEqual([])
})

describe('the compiler', () => {
  test('names the record that a body must be, and the property that is wrong', () => {
    const text = saidOf('record')
    expect(text).toContain("is not assignable to type 'PolicyCreateRequest'")
    expect(text).toContain("Types of property 'policyholderLocator' are incompatible")
    expect(text.length).toBeLessThan(400)
  })

  test('names an unknown property, and the one that was meant', () => {
    expect(saidOf('unknown')).toContain(
      "'exposure' does not exist in type 'PolicyCreateRequest'. Did you mean to write 'exposures'?",
    )
  })

  test('reports an unknown property of a response, and missing parameters', () => {
    const text = saidOf('answer')
    expect(text).toContain("Property 'nothing' does not exist on type 'PolicyResponse'")
    expect(text).toContain('Expected 2 arguments, but got 1')
  })

  test('accepts records by their names, and responses that are read as files', () => {
    expect(saidOf('right')).toBe('')
  })
})
