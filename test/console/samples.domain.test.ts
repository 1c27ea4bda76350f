import { describe, expect, test } from 'vitest'
import { literal, type SampledOperation, typeScriptSample } from '../../console/reference/samples.ts'
import { loadDocument } from '../../scripts/routes.ts'
import { compile } from '../support/compile.ts'

type Document = { paths: Record<string, Record<string, SampledOperation & { operationId: string }>> }

describe('TypeScript samples', () => {
  test('compile for every operation with the types of the client', async () => {
    const { paths } = JSON.parse(await loadDocument()) as Document
    const samples = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        typeScriptSample('https://bindery.example.com', method, path, operation),
      ]),
    )
    expect(samples.length).toBeGreaterThan(250)
    expect(await compile(Object.fromEntries(samples))).toBe('')
  })

  test('contain the example as source text, and read files from disk', () => {
    const operation: SampledOperation = {
      parameters: [
        { name: 'policyLocator', in: 'path', required: true, example: '100000001' },
        { name: 'count', in: 'query', required: false },
        { name: 'page', in: 'query', required: true, schema: { type: 'integer', minimum: 1 } },
        { $ref: '#/components/parameters/IfMatch' },
      ],
      requestBody: {
        content: {
          'multipart/form-data': {
            example: { title: "Ada's", file: 'bytes' },
            schema: { properties: { title: { type: 'string' }, file: { type: 'string', format: 'binary' } } },
          },
        },
      },
      responses: { 200: { content: { 'application/json': {} } } },
    }
    expect(typeScriptSample('http://a', 'post', '/policy/{policyLocator}/file', operation)).toBe(
      `import { openAsBlob } from 'node:fs'
import { createClient } from 'bindery/client'

const bindery = createClient({ baseUrl: 'http://a', token: process.env.TOKEN })
const answer = await bindery.post('/policy/{policyLocator}/file', {
  params: { path: { policyLocator: '100000001' }, query: { page: 1 } },
  body: { title: 'Ada\\'s', file: await openAsBlob('file') },
})
console.log(answer)`,
    )
  })

  test('contain literals that evaluate to the same values', () => {
    const values = {
      text: `a'b"c\\d\ne${'\u2028'}`,
      list: [1, null, true, []],
      'a-b': { deep: 'x'.repeat(90) },
    }
    expect(new Function(`return ${literal(values)}`)()).toEqual(values)
  })
})
