// The client's types, as scripts/contract-types.ts generates them from an OpenAPI document.
import { expect, test } from 'vitest'
import { contractTypes, type OpenApiDocument } from '../../scripts/contract-types.ts'

type Schemas = NonNullable<NonNullable<OpenApiDocument['components']>['schemas']>

/** Only the types of the schemas, without line breaks and indentation. */
function typesOf(schemas: Schemas): string {
  const text = contractTypes({ paths: {}, components: { schemas } })
  const [, types] = /never>;\n(.*?)\nexport interface components/s.exec(text)!
  return types!.replace(/\s+/g, ' ').trim()
}

test.each<[string, Schemas[string], string]>([
  ['a value that may be null', { type: ['string', 'null'] }, 'string | null'],
  ['an integer', { type: 'integer' }, 'number'],
  ['one of some texts', { type: ['string', 'null'], enum: ['a', 'b'] }, '"a" | "b" | null'],
  ['a list of what may be null', { type: 'array', items: { type: ['number', 'null'] } }, '(number | null)[]'],
  ['a file', { type: 'string', format: 'binary' }, 'Blob'],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number; }'],
  ['a map of anything', { type: 'object', additionalProperties: true }, '{ [key: string]: unknown; }'],
  ['an object without properties', { type: 'object' }, 'Record<string, never>'],
  ['another schema', { $ref: '#/components/schemas/Other' }, 'Other'],
  ['anything', {}, 'unknown'],
  ['either of two', { anyOf: [{ $ref: '#/components/schemas/Other' }, { type: 'null' }] }, 'Other | null'],
  [
    'all of two',
    { allOf: [{ $ref: '#/components/schemas/Other' }, { anyOf: [{ type: 'string' }, { type: 'number' }] }] },
    'Other & (string | number)',
  ],
  [
    'properties that are required and that are not',
    { type: 'object', properties: { a: { type: 'string' }, 'b-c': { type: 'boolean' } }, required: ['a'] },
    '{ a: string; "b-c"?: boolean; }',
  ],
])('writes the type of %s', (_, schema, type) => {
  const comment = schema.format
    ? `/** Format: ${schema.format} */ `
    : schema.enum
      ? '/** @enum {string|null} */ '
      : ''
  const isRecord = type.startsWith('{ a:')
  expect(typesOf({ Tested: schema })).toBe(
    isRecord ? `export interface Tested ${type}` : `${comment}export type Tested = ${type};`,
  )
})

test('an operation has its parameters by place, its body and its responses', () => {
  const text = contractTypes({
    paths: {
      '/policies/{locator}': {
        patch: {
          operationId: 'patchPolicy',
          parameters: [
            { in: 'path', name: 'locator', required: true, schema: { type: 'string' } },
            { $ref: '#/components/parameters/Key' },
          ],
          requestBody: { required: true, content: { 'application/json': { schema: { type: 'number' } } } },
          responses: { 204: { headers: { ETag: { schema: { type: 'string' } } } } },
        },
      },
    },
    components: {
      parameters: { Key: { in: 'header', name: 'Idempotency-Key', schema: { type: 'string' } } },
    },
  }).replace(/\s+/g, ' ')
  expect(text).toContain('patch: operations["patchPolicy"];')
  expect(text).toContain(
    'patchPolicy: { parameters: { header?: { "Idempotency-Key"?: components["parameters"]["Key"]; }; path: { locator: string; }; };',
  )
  expect(text).toContain('requestBody: { content: { "application/json": number; }; };')
  expect(text).toContain('responses: { 204: { headers: { ETag?: string; [name: string]: unknown; }; }; };')
})

test('types of requests accept readonly lists, and other texts in addition to the values of an enum', () => {
  const Sent = {
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'string' } },
      kind: { type: 'string', enum: ['a', 'b'] },
      shared: { $ref: '#/components/schemas/Shared' },
    },
  }
  const content = ($ref: string) => ({
    'application/json': { schema: { $ref: `#/components/schemas/${$ref}` } },
  })
  const text = contractTypes({
    paths: {
      '/a': {
        post: {
          operationId: 'postA',
          requestBody: { required: true, content: content('Sent') },
          responses: { 200: { content: content('Shared') } },
        },
      },
    },
    components: {
      schemas: {
        Sent,
        Shared: { type: 'object', properties: { list: Sent.properties.list, kind: Sent.properties.kind } },
      },
    },
  }).replace(/\s+/g, ' ')
  const kind = '/** @enum {string} */ kind?: "a" | "b"'
  expect(text).toContain(
    `export interface Sent { list?: readonly string[]; ${kind} | (string & {}); shared?: Shared; }`,
  )
  expect(text).toContain(`export interface Shared { list?: readonly string[]; ${kind}; }`)
})

test('descriptions and defaults become a comment, which they cannot end', () => {
  const schema = { type: 'string', description: 'Up to */ here.', default: 'a' }
  expect(typesOf({ Tested: schema })).toBe(
    '/** * @description Up to *\\/ here. * @default a */ export type Tested = string;',
  )
})

test('a schema keyword that the types would ignore is rejected', () => {
  const schema = { type: 'object', patternProperties: {} } as Schemas[string]
  expect(() => typesOf({ Tested: schema })).toThrow('cannot convert patternProperties')
})
