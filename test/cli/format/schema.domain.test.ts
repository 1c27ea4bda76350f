import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  FILE_KINDS,
  type FileKind,
  kindOfFile,
  schemaFileName,
  schemaOfKind,
} from '../../../cli/format/kinds.ts'
import { withSchema } from '../../../cli/format/name-schema.ts'
import { scenarioSchema } from '../../../cli/format/scenario-schema.ts'
import { schemaFiles } from '../../../cli/format/schema-files.ts'
import { compileWith, foundIn } from '../../product/minimal-archive.ts'
import { bindery } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-schema-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true })
const VALIDATORS = new Map(FILE_KINDS.map(kind => [kind.kind, ajv.compile(schemaOfKind(kind))]))

/** Returns what the validator reports for the value; empty if it is valid. */
function problems(kind: string, value: unknown): string[] {
  const validate = VALIDATORS.get(kind)!
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

/** Returns the files of the format below the root of a configuration. */
const filesOf = (root: string): { path: string; kind: FileKind; value: unknown }[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap(path => {
    const kind = kindOfFile(path)
    return kind ? [{ path, kind, value: JSON.parse(readFileSync(join(root, path), 'utf8')) as unknown }] : []
  })

const CONFIGURATIONS = [
  ...readdirSync('examples', { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => `examples/${name}/configuration`),
  'cli/starter/configuration',
]

describe('schemas/', () => {
  test('contains the present schema of each kind of file (npm run docs:configuration writes them)', () => {
    expect(readdirSync('schemas').sort()).toEqual(
      schemaFiles()
        .map(({ name }) => name)
        .sort(),
    )
    for (const { name, text } of schemaFiles()) expect(readFileSync(join('schemas', name), 'utf8')).toBe(text)
  })
})

describe.each(CONFIGURATIONS)('%s', root => {
  const files = filesOf(root)

  test('is valid under its schemas', () => {
    expect(files.length).toBeGreaterThan(8)
    for (const { path, kind, value } of files) expect([path, problems(kind.kind, value)]).toEqual([path, []])
  })

  test('names the schema in every file, by a path that leads to it', () => {
    for (const { path, kind, value } of files) {
      const { $schema } = value as { $schema?: string }
      expect([path, $schema?.split('/').at(-1)]).toEqual([path, schemaFileName(kind.kind)])
      const target = join(root, dirname(path), $schema!)
      // The schemas of the starter are written by `bindery new`.
      if (root.startsWith('examples')) expect(existsSync(target), target).toBe(true)
      else
        expect(relative('cli/starter', target)).toBe(join('.bindery', 'schemas', schemaFileName(kind.kind)))
    }
  })
})

test.each(FILE_KINDS.map(kind => [kind.kind, kind] as const))(
  'the sample of %s is valid under its schema',
  (name, kind) => {
    expect(problems(name, kind.sample)).toEqual([])
  },
)

describe('the schema of a file', () => {
  const fields = (...given: object[]): object => ({ fields: given })
  const field = { name: 'a', type: 'string' }

  test.each<[string, string, unknown, string]>([
    ['a property that there is not', 'policy', { displayNme: 'x' }, 'must NOT have additional properties'],
    [
      'a word that is none of the list',
      'fees',
      { fees: [{ name: 'a', proration: 'flt' }] },
      '/fees/0/proration',
    ],
    ['a field without a name', 'exposure', fields({ type: 'string' }), "must have required property 'name'"],
    [
      'a field of a type that there is not',
      'exposure',
      fields({ ...field, type: 'slect' }),
      '/fields/0/type',
    ],
    [
      'a group in a group',
      'policy',
      fields({ name: 'g', type: 'group', fields: [{ ...field, fields: {}, typ: 1 }] }),
      '/fields/0/fields/0',
    ],
    ['text for an amount', 'peril', { deductible: 'none' }, '/deductible must match pattern'],
    [
      'half a day',
      'policy',
      { lapse: { gracePeriodDays: 2.5 } },
      '/lapse/gracePeriodDays must be integer,string',
    ],
    ['a negative count', 'policy', { lapse: { gracePeriodDays: -1 } }, '/lapse/gracePeriodDays must be >= 0'],
    [
      'a plugin function that there is not',
      'policy',
      { plugins: { getRates: { path: 'x.js' } } },
      '/plugins',
    ],
    ['an object for a list', 'taxes', { taxes: {} }, '/taxes must be array'],
    [
      'a document without a template',
      'renewals',
      { documents: [{ fileName: 'a' }] },
      "required property 'templateName'",
    ],
    [
      'a user without a password',
      'test-users',
      { users: [{ username: 'a' }] },
      "required property 'password'",
    ],
    [
      'a time zone that is a list',
      'config',
      { timezone: ['UTC'] },
      '/timezone must be string,number,boolean',
    ],
    [
      'a group of resources without a begin',
      'bootstrap',
      { resourceGroups: { a: {} } },
      "'selectionStartTime'",
    ],
    [
      'a form with fields that are names',
      'policyholder-form',
      { pages: [{ sections: [{ fields: ['a'] }] }] },
      'must be object',
    ],
    ['a schema that is no text', 'config', { $schema: 1 }, '/$schema must be string'],
  ])('rejects %s', (_, kind, value, problem) => {
    expect(problems(kind, value).join('\n')).toContain(problem)
  })
})

describe('numbers, flags and lists', () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.integer().map(cents => cents / 100),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('true', '12', ' 7 ', '1.5'),
  )
  /** A property of every lenient type, with its kind of file. */
  const PLACES: [string, (value: unknown) => unknown][] = [
    ['policy', value => ({ requiresJurisdiction: value })],
    ['policy', value => ({ lapse: { gracePeriodDays: value } })],
    ['policy', value => ({ invoicing: { carryForwardBelow: value } })],
    ['policy', value => ({ displayName: value })],
    ['peril', value => ({ indemnityPerItem: value })],
    ['endorsements', value => ({ endorsements: [{ name: value }] })],
    ['exposure', value => ({ fields: [{ name: 'a', type: 'select', values: value }] })],
  ]

  test('that are valid under a schema are read by the service, whether in quotes or not', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PLACES), scalar, ([kind, made], value) => {
        const file = made(value)
        const fits = problems(kind, file).length === 0
        const { schema } = FILE_KINDS.find(one => one.kind === kind)!
        // The converse does not hold: the service also reads words in any case, and blank text as absent.
        if (fits) expect(schema.safeParse(file).success).toBe(true)
      }),
    )
  })

  test('are valid as people and older archives write them', () => {
    for (const value of [true, 'false'])
      expect(problems('policy', { requiresJurisdiction: value })).toEqual([])
    for (const value of [30, '30'])
      expect(problems('policy', { lapse: { gracePeriodDays: value } })).toEqual([])
    for (const value of [10, 2.5, '2.50', 'unlimited'])
      expect(problems('peril', { indemnityPerEvent: value })).toEqual([])
    for (const values of [['a', 1], 'a'])
      expect(problems('exposure', { fields: [{ name: 'a', type: 'select', values }] })).toEqual([])
  })
})

describe('$schema', () => {
  test('is not content of any file: a check finds nothing, and reads the same configuration', () => {
    const said = { $schema: '../x.schema.json' }
    const files = {
      'config.json': { ...said, timezone: 'UTC', currency: 'EUR' },
      'payment/payment.json': { ...said, fields: [] },
      'policyholder/policyholder.dictionary.json': {
        ...said,
        fields: [{ name: 'last_name', type: 'string' }],
      },
      'policyholder/policyholder.form.json': { ...said, pages: [] },
      'policyholder/policyholder.card.json': { ...said, leftText: '{{last_name}}' },
      'security/test_users.json': { ...said, alice: { password: 'password', roles: ['agent'] } },
      'security/roles.json': { ...said, agent: 'Agent' },
      'policy/policy.json': { ...said, fields: [], documents: [] },
      'policy/endorsements.json': { ...said, endorsements: [] },
      'policy/renewals.json': { ...said, documents: [] },
      'policy/cancellations.json': { ...said, cancellationTypes: [] },
      'policy/fees.json': { ...said, fees: [] },
      'policy/taxes/taxes.json': { ...said, taxes: [] },
      'bootstrap/resources/config.json': { ...said, resourceInstances: {}, resourceGroups: {} },
    }
    const read = compileWith(files)
    expect(read.findings).toEqual([])
    expect(read.configuration?.roles).toEqual({ agent: 'Agent' })
    expect(read.configuration?.testUsers.map(({ username }) => username)).toEqual(['alice'])
    const bare = Object.fromEntries(
      Object.entries(files).map(([path, { $schema: _, ...rest }]) => [path, rest]),
    )
    expect(compileWith(bare).configuration).toEqual(read.configuration)
  })

  test('is an unknown property if it is not text', () => {
    expect(foundIn(compileWith({ 'policy/fees.json': { $schema: 7, fees: [] } }))).toEqual([
      'WARNING unknownProperty policy/fees.json:2',
    ])
  })

  test.each([
    ['{\n  "a": 1\n}\n', '{\n  "$schema": "s",\n  "a": 1\n}\n'],
    ['{\r\n\t"a": 1\r\n}', '{\r\n\t"$schema": "s",\r\n\t"a": 1\r\n}'],
    ['{ "a": 1 }', '{ "$schema": "s", "a": 1 }'],
    ['{"a":1}', '{ "$schema": "s", "a":1}'],
    ['{}', '{ "$schema": "s" }'],
    ['\uFEFF{ "$schema": "old", "a": 1 }', '\uFEFF{ "$schema": "s", "a": 1 }'],
    [
      '{\n  "a": { "$schema": "mine" },\n  "$schema" : "o\\"ld"\n}',
      '{\n  "a": { "$schema": "mine" },\n  "$schema" : "s"\n}',
    ],
    ['{ "$schema": "s" }', '{ "$schema": "s" }'],
    ['[1]', undefined],
    ['{ "a": }', undefined],
  ])('is inserted or replaced in %j where possible', (text, named) => {
    expect(withSchema(text, 's')).toBe(named)
  })
})

describe('the schema of scenarios', () => {
  const validate = ajv.compile(scenarioSchema())
  const FOLDERS = ['cli/starter', ...readdirSync('examples').map(name => `examples/${name}`)]
  const files = FOLDERS.map(name => `${name}/scenarios`)
    .filter(name => existsSync(name))
    .flatMap(name => readdirSync(name).map(file => join(name, file)))

  test('accepts the scenarios of the starter and of the examples', () => {
    expect(files.length).toBeGreaterThan(6)
    for (const file of files)
      expect([file, validate(parse(readFileSync(file, 'utf8')))]).toEqual([file, true])
  })

  test.each<[string, string, string]>([
    ['a step that there is not', 'steps: [{ isue: }]', 'isue'],
    [
      'a property that the interface does not have',
      'steps: [{ cancel: { cancellationName: a } }]',
      'cancellationName',
    ],
    ['something that is not expected', 'expect: { totl: 1 }', 'totl'],
    ['a property of the policy that there is not', 'policy: { exposure: [] }', 'exposure'],
    ['a peril with a typing error', 'policy: { exposures: [{ perils: [{ nme: fire }] }] }', 'nme'],
  ])('rejects %s', (_, text, property) => {
    expect(validate(parse(text))).toBe(false)
    const named = validate.errors!.map(({ params }) => params.additionalProperty)
    expect(named).toContain(property)
  })
})

describe('bindery schema', () => {
  test('lists the kinds of files, and prints the schema of a kind, a file name or a path', async () => {
    const listed = await bindery('schema')
    expect(listed.out.split('\n')).toHaveLength(schemaFiles().length + 1)
    expect(listed.out).toContain('products/<product>/policy/policy.json')
    const asked = ['peril', 'products/a/policy/exposures/b/perils/c.json']
    for (const name of asked)
      expect(JSON.parse((await bindery('schema', name)).out).title).toBe('<peril>.json (peril)')
    expect(JSON.parse((await bindery('schema', 'fees.json', '--json')).out).title).toBe('fees.json (fees)')
    const wrong = await bindery('schema', 'polcy')
    expect([wrong.exit, wrong.out]).toEqual([2, ''])
    expect(wrong.err).toContain("Did you mean 'policy'?")
    expect((await bindery('schema', 'policy', '--out', folder)).exit).toBe(2)
  })

  test('--into names the schemas in an existing configuration, and changes nothing when it is repeated', async () => {
    const copy = join(folder, 'motor')
    cpSync('examples/motor', copy, { recursive: true })
    const users = join(copy, 'configuration/security/test_users.json')
    const { users: list } = JSON.parse(readFileSync(users, 'utf8')) as { users: object[] }
    writeFileSync(users, JSON.stringify(list))
    const first = await bindery('schema', '--into', copy)
    expect(first.exit).toBe(0)
    expect(first.out).toContain('skipped configuration/security/test_users.json: it is a list')
    const files = filesOf(join(copy, 'configuration')).filter(({ value }) => !Array.isArray(value))
    for (const { path, kind, value } of files) {
      const target = join(copy, 'configuration', dirname(path), (value as { $schema: string }).$schema)
      expect(relative(copy, target)).toBe(join('.bindery', 'schemas', schemaFileName(kind.kind)))
      expect(existsSync(target)).toBe(true)
    }
    const policy = join(copy, 'configuration/products/private_motor/policy/policy.json')
    const once = readFileSync(policy, 'utf8')
    await bindery('schema', '--into', copy)
    expect(readFileSync(policy, 'utf8')).toBe(once)
    expect((await bindery('check', copy)).out).toContain('0 errors, 0 warnings')
  })

  test('--into exits with 2 for a folder without a configuration, and writes no schemas', async () => {
    const empty = join(folder, 'empty')
    cpSync('examples/motor/worked.json', join(empty, 'worked.json'), { recursive: true })
    writeFileSync(join(empty, 'note.txt'), 'x')
    expect((await bindery('schema', '--into', empty)).exit).toBe(2)
    expect(existsSync(join(empty, '.bindery'))).toBe(false)
  })

  test('--into covers all files of a folder made by bindery new', async () => {
    const made = join(folder, 'harbour')
    await bindery('new', made)
    const { out } = await bindery('schema', '--into', made, '--json')
    const { named, left } = JSON.parse(out) as { named: string[]; left: string[] }
    expect([named.length, left]).toEqual([11, []])
    const theft = join(made, 'configuration/products/harbour/policy/exposures/bicycle/perils/theft.json')
    const { $schema } = JSON.parse(readFileSync(theft, 'utf8')) as { $schema: string }
    expect(existsSync(join(dirname(theft), $schema))).toBe(true)
  })
})
