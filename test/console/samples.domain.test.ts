import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { literal, type SampledOperation, typeScriptSample } from '../../console/reference/samples.ts'
import { loadDocument } from '../../scripts/routes.ts'

type Document = { paths: Record<string, Record<string, SampledOperation & { operationId: string }>> }

mkdirSync('.wrangler/tests', { recursive: true })
const folder = mkdtempSync(resolve('.wrangler/tests/samples-'))
afterAll(() => rmSync(folder, { recursive: true }))

const tscOf = (config: string) =>
  promisify(execFile)(process.execPath, [
    resolve('node_modules/typescript/bin/tsc'),
    '--noEmit',
    '-p',
    config,
  ])

describe('samples in TypeScript', () => {
  test('compile for every operation with the types of the client', async () => {
    const { paths } = JSON.parse(await loadDocument()) as Document
    const names = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const text = typeScriptSample('https://bindery.example.com', method, path, operation)
        writeFileSync(join(folder, `${operation.operationId}.ts`), `${text}\nexport {}\n`)
        return operation.operationId
      }),
    )
    expect(names.length).toBeGreaterThan(250)
    const config = join(folder, 'tsconfig.json')
    const types = { types: ['@cloudflare/workers-types', 'node'] }
    const paths_ = { paths: { 'bindery/client': [relative(folder, 'client/index.ts')] } }
    writeFileSync(
      config,
      JSON.stringify({
        extends: relative(folder, 'tsconfig.json'),
        compilerOptions: { ...types, ...paths_ },
        include: ['.'],
        exclude: [],
      }),
    )
    const said = await tscOf(config).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )
    expect(said).toBe('')
  })

  test('have the example as source text, and files from the disk', () => {
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

  test('of values are read as the same values', () => {
    const values = {
      text: `a'b"c\\d\ne${'\u2028'}`,
      list: [1, null, true, []],
      'a-b': { deep: 'x'.repeat(90) },
    }
    expect(new Function(`return ${literal(values)}`)()).toEqual(values)
  })
})
