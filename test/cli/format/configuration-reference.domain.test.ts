import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { FILE_KINDS, kindOfFile } from '../../../cli/format/kinds.ts'
import { isGrantable } from '../../../src/platform/http/permissions.ts'
import { fieldList } from '../../../src/product/check/fields/file.ts'
import { documentList } from '../../../src/product/check/product/document-file.ts'
import {
  CONFIGURATION_BEGIN,
  CONFIGURATION_PAGE,
  type DescribedProperty,
  propertiesOfFile,
  sharedStructure,
  withConfigurationReference,
} from '../../../tools/configuration-reference.ts'

/** Every property, with its place on the page. */
const PROPERTIES: (readonly [string, DescribedProperty])[] = [
  ...FILE_KINDS.flatMap(kind => propertiesOfFile(kind).map(one => [kind.kind, one] as const)),
  ...(['field', 'document'] as const).flatMap(name => sharedStructure(name).map(one => [name, one] as const)),
]

test('docs/configuration.md describes the present schemas (npm run docs:configuration writes it)', () => {
  const page = readFileSync(CONFIGURATION_PAGE, 'utf8')
  expect(page).toBe(withConfigurationReference(page))
  expect(() => withConfigurationReference('nothing')).toThrow(CONFIGURATION_BEGIN)
})

describe('a property', () => {
  test('is on the page wherever it occurs: in the file, in an object, in a list and by name', () => {
    const places = PROPERTIES.map(([place, { path }]) => `${place}: ${path}`)
    expect(places).toEqual(expect.arrayContaining(['config: timezone', 'policy: lapse.gracePeriodDays']))
    expect(places).toEqual(
      expect.arrayContaining([
        'fees: fees[].name',
        'policy: plugins.<name>.path',
        'roles: <name>.permissions',
      ]),
    )
    expect(places).toContain('config: customEvents[].schedule.cadence.limit')
    expect(places).toContain('field: constraint.where.<name>.key')
    expect(places.length).toBeGreaterThan(180)
    expect(new Set(places).size).toBe(places.length)
  })

  test.each(PROPERTIES.map(([place, one]) => [`${place}: ${one.path}`, one] as const))(
    '%s has a description that does more than repeat its name, and an example',
    (_, { path, schema }) => {
      const { description = '', examples = [] } = schema
      expect(description).toMatch(/[.)]$/)
      const name = path.split(/[.[\]<>]+/).at(-1)!
      const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
      const bare = description
        .toLowerCase()
        .replace(/^(the|a|an|its) /, '')
        .replace(/\.$/, '')
      expect(bare).not.toBe(words)
      expect(description.length).toBeGreaterThan(8)
      expect(examples.length).toBeGreaterThan(0)
    },
  )
})

/** Yields a zod schema and all schemas inside it, each once. */
function* schemasIn(schema: z.ZodType, seen = new Set<unknown>()): Generator<z.ZodType> {
  if (seen.has(schema)) return
  seen.add(schema)
  yield schema
  const {
    shape,
    element,
    valueType,
    innerType,
    options,
    in: input,
    out,
  } = schema._zod.def as unknown as {
    [part: string]: z.ZodType
  } & { shape?: Record<string, z.ZodType>; options?: z.ZodType[] }
  const parts = [...Object.values(shape ?? {}), element, valueType, innerType, ...(options ?? []), input, out]
  for (const part of parts) if (part) yield* schemasIn(part, seen)
}

describe('an example', () => {
  test('of every property is accepted by the schema that reads the files', async () => {
    const { z: zod } = await import('zod')
    let read = 0
    for (const root of [...FILE_KINDS.map(({ schema }) => schema), fieldList, documentList])
      for (const schema of schemasIn(root))
        for (const example of (zod.globalRegistry.get(schema)?.examples as unknown[]) ?? []) {
          const result = schema.safeParse(example)
          expect(result.error, JSON.stringify(example)).toBeUndefined()
          read += 1
        }
    expect(read).toBeGreaterThan(200)
  })

  test.each(FILE_KINDS.map(kind => [kind.kind, kind] as const))(
    'of a whole file of the kind %s is accepted',
    (_, { schema, sample }) => {
      expect(schema.safeParse(sample).error).toBeUndefined()
    },
  )

  test('of a role names only permissions that exist', async () => {
    const { z: zod } = await import('zod')
    const { schema, sample } = FILE_KINDS.find(({ kind }) => kind === 'roles')!
    const shown = [...schemasIn(schema)].map(one => zod.globalRegistry.get(one)?.examples ?? [])
    const named = JSON.stringify([sample, shown]).match(/\b[a-z]\w*\.(?:\*|[a-z]\w*)/gi) ?? []
    expect(named.length).toBeGreaterThan(4)
    expect(named.filter(permission => !isGrantable(permission))).toEqual([])
  })
})

test('the path of a file determines its kind, and other files have none', () => {
  expect(kindOfFile('products/home/policy/exposures/house/perils/fire.json')?.kind).toBe('peril')
  expect(kindOfFile('products/home/policy/policy.json')?.kind).toBe('policy')
  expect(kindOfFile('products/home/policy/tables/rates.csv')).toBeUndefined()
  expect(kindOfFile('products/home/policy/exposures/house/exposure.json.bak')).toBeUndefined()
})
