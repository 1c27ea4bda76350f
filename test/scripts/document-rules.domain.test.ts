// What `npm run lint` finds in an OpenAPI document of the right shape.
import { expect, test } from 'vitest'
import { type Document, faultsOf } from '../../tools/document-rules.ts'

const faultless = () => ({
  openapi: '3.1.0',
  info: { title: 'Tested', version: '1', license: { name: 'None', identifier: 'LicenseRef-None' } },
  servers: [{ url: '/' }],
  tags: [{ name: 'Policies', description: 'All of them.' }],
  paths: {
    '/policies/{locator}': {
      get: {
        operationId: 'getPolicy',
        summary: 'A policy',
        security: [{ token: [] }],
        parameters: [
          { in: 'path', name: 'locator', required: true, schema: { type: 'string' }, example: 'p1' },
          { $ref: '#/components/parameters/Key' },
        ],
        responses: {
          200: {
            description: 'It.',
            content: { 'application/json': answer({ locator: 'p1', limits: [1] }) },
          },
          404: { description: 'There is none.' },
        } as Record<string, { description: string; content?: Record<string, ReturnType<typeof answer>> }>,
      },
    },
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    parameters: { Key: { in: 'header', name: 'Idempotency-Key', schema: { type: 'string' } } },
    schemas: {
      Policy: {
        type: 'object',
        properties: {
          locator: { type: 'string' } as Record<string, unknown>,
          limits: { type: 'array', items: { type: 'integer' } } as Record<string, unknown>,
        },
        required: ['locator'],
      },
    } as Record<string, Record<string, unknown>>,
  },
})

function answer(example: unknown) {
  return { schema: { $ref: '#/components/schemas/Policy' } as Record<string, unknown>, example }
}

type Tested = ReturnType<typeof faultless>
const call = (document: Tested) => document.paths['/policies/{locator}'].get
const body = (document: Tested) => call(document).responses[200]!.content!['application/json']!
const faultsAfter = (change: (document: Tested) => void): string[] => {
  const document = faultless()
  change(document)
  return faultsOf(document as unknown as Document)
}

test('a document that follows all rules has no faults', () => {
  expect(faultsAfter(() => {})).toEqual([])
})

const AT = 'GET /policies/{locator}'
const BODY = '#/paths/~1policies~1%7Blocator%7D/get/responses/200/content/application~1json'

test.each<[string, (document: Tested) => void]>([
  [
    'info: has no license with a url or identifier',
    ({ info }) => Reflect.deleteProperty(info.license, 'identifier'),
  ],
  ['servers: is empty', ({ servers }) => servers.pop()],
  ['tags: Policies has no description', ({ tags }) => Reflect.deleteProperty(tags[0]!, 'description')],
  [`${AT}: has no summary`, document => Reflect.deleteProperty(call(document), 'summary')],
  [
    `${AT}: needs an operationId that is valid in a URL`,
    document => Object.assign(call(document), { operationId: 'get policy' }),
  ],
  [`${AT}: has no security requirement`, document => Reflect.deleteProperty(call(document), 'security')],
  [
    `${AT}: key is not a security scheme of the document`,
    document => Object.assign(call(document), { security: [{ key: [] }] }),
  ],
  [
    `${AT}: has no success response (2xx or 3xx)`,
    document => Object.assign(call(document), { responses: { 404: { description: 'None.' } } }),
  ],
  [`${AT}: has no error response (4xx)`, document => Reflect.deleteProperty(call(document).responses, '404')],
  [`${AT}: does not define {locator}`, document => call(document).parameters.shift()],
  [
    `${AT}: has the parameter "header Idempotency-Key" twice`,
    document => call(document).parameters.push({ $ref: '#/components/parameters/Key' }),
  ],
  [
    '/policies/{id}: is the same as /policies/{locator}',
    ({ paths }) => Object.assign(paths, { '/policies/{id}': {} }),
  ],
  ['/policies/: ends with a slash', ({ paths }) => Object.assign(paths, { '/policies/': {} })],
  [
    '#/components/schemas/Quote: nothing refers to it',
    ({ components }) => Object.assign(components.schemas, { Quote: { type: 'string' } }),
  ],
  [
    `${BODY}/schema: #/components/schemas/Quote does not exist`,
    document => {
      body(document).schema = { anyOf: [], $ref: '#/components/schemas/Quote' }
      document.components.schemas.Policy!.properties = { self: { $ref: '#/components/schemas/Policy' } }
    },
  ],
  [
    '#/components/schemas/Policy/properties/locator: JSON Schema has no nullable',
    ({ components }) =>
      Object.assign(components.schemas.Policy!.properties!, { locator: { nullable: true } }),
  ],
  [
    '#/components/schemas/Policy/properties/locator: 1 in its enum is not of its type',
    ({ components }) =>
      Object.assign(components.schemas.Policy!.properties!, { locator: { type: 'string', enum: [1] } }),
  ],
  [
    '#/components/schemas/Policy/properties/locator: has items, but is not an array',
    ({ components }) =>
      Object.assign(components.schemas.Policy!.properties!, { locator: { type: 'string', items: {} } }),
  ],
  [
    `${BODY}/example: it must have required property 'locator'`,
    document => Object.assign(body(document), { example: {} }),
  ],
  [
    `${BODY}/example: it must NOT have unevaluated properties`,
    document => Object.assign(body(document), { example: { locator: 'p1', name: 'Greta' } }),
  ],
])('reports "%s"', (fault, change) => {
  expect(faultsAfter(change)).toContain(fault)
})

test('an operationId that is used twice is reported', () => {
  const faults = faultsAfter(document => {
    const { get } = document.paths['/policies/{locator}']
    Object.assign(document.paths, { '/quotes/{locator}': { get } })
  })
  expect(faults).toEqual(['/quotes/{locator}: has the same operationId as /policies/{locator}, getPolicy'])
})
