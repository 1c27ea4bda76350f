// Descriptions of all properties, parameters, values and operations in the OpenAPI document: all exist, and none only repeats a
// name.
import { beforeAll, describe, expect, test } from 'vitest'
import { loadDocument } from '../../scripts/routes.ts'
import { CAUSES } from '../../src/servicing/events/stream/causes.ts'
import { type Described, describeDocument, eventsOf, nothingUsed, WORDS } from '../../src/wording/document.ts'
import { PARAMETERS } from '../../src/wording/parameters.ts'
import { VALUES } from '../../src/wording/values.ts'
import {
  describeProperties,
  eachEnum,
  eachProperty,
  isUnitOnly,
  keysOf,
  type Place,
  type Schema,
} from '../../src/wording/words.ts'

let document: Described
beforeAll(async () => {
  document = JSON.parse(await loadDocument())
}, 180_000)

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )

/** Every schema with properties: named schemas by name, schemas within operations by operation. */
function allSchemas(): Record<string, Schema> {
  const within = [...Object.entries(document.paths), ...Object.entries(document.webhooks ?? {})].flatMap(
    ([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody, responses }]) =>
        [requestBody, ...Object.values(responses)].flatMap((body, at) =>
          Object.values(body?.content ?? {}).map(({ schema = {} }) => [`${method} ${path} ${at}`, schema]),
        ),
      ),
  )
  return { ...document.components.schemas, ...Object.fromEntries(within) }
}

/** Words without meaning of their own. */
const EMPTY = /^(?:the|a|an|of|for|in|on|at|by|to|is|it|its|this|that|with|and|or|as|identifies|value|s)$/

const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')

const singular = (word: string): string => word.replace(/(?<=..)s$/, '')

/** Whether the description contains only words of the name. */
function repeats(description: string, name: string): boolean {
  const named = new Set(wordsOf(name).map(singular))
  return wordsOf(description).every(word => EMPTY.test(word) || named.has(singular(word)))
}

const nameOf = ({ schema, parents, name }: Place): string => [schema, ...parents, name].join('.')

describe('every property', () => {
  test('has a description that contains more than its unit', () => {
    const missing: string[] = []
    let seen = 0
    eachProperty(allSchemas(), (property, place) => {
      seen += 1
      if (isUnitOnly(property.description)) missing.push(nameOf(place))
    })
    expect(missing).toEqual([])
    expect(seen).toBeGreaterThan(2_500)
  })

  test('has a description that does not repeat its name', () => {
    const repeated: string[] = []
    eachProperty(allSchemas(), ({ description = '' }, place) => {
      if (repeats(description, place.name)) repeated.push(`${nameOf(place)}: ${description}`)
    })
    expect(repeated).toEqual([])
    expect(repeats('Locator of the policy.', 'policyLocator')).toBe(true)
    expect(repeats('The policy that it belongs to.', 'policyLocator')).toBe(false)
  })

  test('that is an amount with a currency, or a time, states its unit', () => {
    const without: string[] = []
    eachProperty(allSchemas(), ({ description = '', type, format }, place, siblings) => {
      const isAmount = type === 'number' && `${place.name}Currency` in siblings
      if (isAmount && !/major units/.test(description)) without.push(nameOf(place))
      if (
        /Timestamp$/.test(place.name) &&
        !String(type).includes('boolean') &&
        !/Milliseconds since|ISO 8601/.test(description)
      )
        without.push(nameOf(place))
      if (format === 'date-time' && !/ISO 8601/.test(description)) without.push(nameOf(place))
    })
    expect(without).toEqual([])
  })
})

test('every parameter has a description that does not repeat its name', () => {
  const wrong = operations().flatMap(({ method, path, operation: { parameters = [] } }) =>
    parameters
      .filter(({ $ref, description = '', name }) => $ref === undefined && repeats(description, name))
      .map(({ name }) => `${method} ${path} ${name}`),
  )
  expect(wrong).toEqual([])
})

test('every value of an enumeration has a description', () => {
  const missing = new Set<string>()
  let seen = 0
  eachEnum(document, ({ enum: values = [], 'x-enumDescriptions': meanings = {} }) => {
    for (const value of values.filter(one => typeof one === 'string')) {
      seen += 1
      if (!meanings[value]) missing.add(`${value} of ${values.join(', ').slice(0, 100)}`)
    }
  })
  expect([...missing]).toEqual([])
  expect(seen).toBeGreaterThan(500)
})

test('every operation states the permissions that it needs, and every write the events that it emits', () => {
  for (const { method, path, operation } of operations()) {
    const { description = '' } = operation
    expect(description, `${method} ${path}`).toMatch(/Needs (?:no token|any valid token|a token of )/)
    const events = eventsOf(method, path)
    if (events !== undefined) expect(description, `${method} ${path}`).toContain(events)
    else expect(method, path).toBe('get')
    for (const type of CAUSES[`${method.toUpperCase()} ${path}`]?.does ?? [])
      expect(description).toContain(`\`${type}\``)
  }
  expect(eventsOf('post', '/notes')).toBe('Emits `note.create`, for the steps that it completes.')
})

test('every error code has a remedy', () => {
  const errors = document['x-error-codes']!
  expect(errors.length).toBeGreaterThan(50)
  for (const { code, remedy } of errors) expect(remedy, code).toMatch(/^[A-Z][^[]{10,}\.$/)
})

test('every description in the lists of words is used', () => {
  const used = nothingUsed()
  // As the routes create it, without descriptions.
  const bare = JSON.parse(JSON.stringify(document)) as Described
  const known = new Set<string>([...Object.values(WORDS), ...Object.values(PARAMETERS)])
  const strip = (schemas: Record<string, Schema>): void =>
    eachProperty(schemas, property => {
      if ([...known].some(words => property.description?.startsWith(words))) delete property.description
    })
  strip(bare.components.schemas)
  for (const methods of [...Object.values(bare.paths), ...Object.values(bare.webhooks ?? {})])
    for (const { parameters = [], requestBody, responses } of Object.values(methods)) {
      for (const parameter of parameters)
        if ([...known].some(words => parameter.description?.startsWith(words))) {
          delete parameter.description
          delete parameter.schema?.description
        }
      for (const body of [requestBody, ...Object.values(responses)])
        for (const { schema } of Object.values(body?.content ?? {})) if (schema) strip({ schema })
    }
  describeDocument(bare, used)
  expect(Object.keys(WORDS).filter(key => !used.words.has(key))).toEqual([])
  expect(Object.keys(PARAMETERS).filter(key => !used.parameters.has(key))).toEqual([])
  expect(
    VALUES.filter(meanings => !used.values.has(meanings)).map(meanings => Object.keys(meanings)),
  ).toEqual([])
})

describe('descriptions', () => {
  const place = { schema: 'Worksheet', parents: ['taxes'], name: 'name' }

  test('are taken from the longest key that matches the place', () => {
    expect(keysOf(place)).toEqual(['Worksheet.taxes.name', 'taxes.name', 'Worksheet.name', 'name'])
    const schemas: Record<string, Schema> = {
      A: {
        properties: { name: {}, amount: { type: 'number' }, amountCurrency: {}, at: { format: 'date-time' } },
      },
      B: { properties: { name: { description: 'Its own.' }, list: { items: { properties: { name: {} } } } } },
    }
    describeProperties(schemas, {
      name: 'Any.',
      'A.name': 'Of A.',
      'list.name': 'In lists.',
      amount: 'Much.',
      at: 'When.',
    })
    expect(schemas.A!.properties).toEqual({
      name: { description: 'Of A.' },
      amount: { type: 'number', description: 'Much. In major units of `amountCurrency`.' },
      amountCurrency: { description: 'Currency of `amount`.' },
      at: { format: 'date-time', description: 'When. ISO 8601 with its offset from UTC.' },
    })
    expect(schemas.B!.properties!.name).toEqual({ description: 'Its own.' })
    expect(schemas.B!.properties!.list!.items!.properties!.name).toEqual({ description: 'In lists.' })
  })
})
