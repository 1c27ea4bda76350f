import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packFolder } from '../../cli/folder.ts'
import { compileArchive } from '../../src/product/compile.ts'
import type { Configuration, LookupTable } from '../../src/product/configuration.ts'
import type { Change } from '../../src/product/difference/change.ts'
import {
  bindingChanges,
  configurationChanges,
  fileChanges,
} from '../../src/product/difference/configurations.ts'
import { lineHunks } from '../../src/product/difference/lines.ts'
import { rowChanges } from '../../src/product/difference/tables.ts'
import { sameCell } from '../../src/product/difference/values.ts'
import { incompatibleChanges } from '../../src/tenants/deployment/release/compatibility.ts'
import { withFields } from './minimal-archive.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-difference-'))
afterAll(() => rmSync(folder, { recursive: true }))

const POLICY = 'products/private_motor/policy'

/** Changes to files of the motor example, each with the expected description. */
const PLANTED: {
  file: string
  from: string
  to: string
  says: Partial<Record<'kind' | 'area' | 'subject' | 'detail', string>>
  inForce?: 'breaks' | 'binds'
}[] = [
  {
    file: `${POLICY}/policy.json`,
    from: '"values": ["direct", "broker", "comparison_portal"]',
    to: '"values": ["direct", "broker", "app"]',
    says: { area: 'fields', subject: "field 'channel'", detail: "options removed: 'comparison_portal'" },
    inForce: 'binds',
  },
  {
    file: `${POLICY}/policy.json`,
    from: '"maximum": 35',
    to: '"maximum": 30',
    says: { subject: "field 'claims_free_years'", detail: 'maximum: 35 becomes 30' },
    inForce: 'binds',
  },
  {
    file: `${POLICY}/policy.json`,
    from: '"type": "phone", "optional": true',
    to: '"type": "phone"',
    says: { subject: "field 'contact_phone'", detail: 'is now required' },
    inForce: 'binds',
  },
  {
    file: `${POLICY}/policy.json`,
    from: '"maximum": 8,',
    to: '"maximum": 12,',
    says: { subject: "field 'named_drivers'", detail: 'maximum: 8 becomes 12' },
  },
  {
    file: `${POLICY}/policy.json`,
    from: '{ "name": "full_name", "title": "Name", "type": "string", "maximum": 120 },',
    to: '{ "name": "whole_name", "title": "Name", "type": "string", "maximum": 120 },',
    says: { kind: 'removed', subject: "field 'full_name' of group 'named_drivers'" },
    inForce: 'breaks',
  },
  {
    file: `${POLICY}/policy.json`,
    from: '{ "type": "annually", "name": "annually", "displayName": "Once a year" },',
    to: '',
    says: { kind: 'removed', area: 'billing', subject: "payment schedule 'annually'" },
    inForce: 'breaks',
  },
  {
    file: `${POLICY}/policy.json`,
    from: '"amount": 14, "unit": "day"',
    to: '"amount": 21, "unit": "day"',
    says: {
      area: 'billing',
      detail: "payment terms: amount 14, unit 'day' becomes amount 21, unit 'day'",
    },
  },
  {
    file: `${POLICY}/policy.json`,
    from: '"getUnderwritingResult": { "path": "main/underwriter.js", "enabled": false }',
    to: '"getUnderwritingResult": { "path": "main/underwriter.js", "enabled": true }',
    says: { area: 'plugins', subject: 'plugin getUnderwritingResult', detail: 'is enabled' },
  },
  {
    file: `${POLICY}/tables/region_factor.csv`,
    from: 'R1,0.86',
    to: 'R1,0.90',
    says: { area: 'tables', subject: "table 'region_factor'", detail: '1 row changed (+4.65 %)' },
  },
  {
    file: `${POLICY}/exposures/vehicle/perils/theft.premium.liquid`,
    from: 'times: 0.00018',
    to: 'times: 0.0002',
    says: {
      area: 'rates',
      subject: "premium of peril 'theft' of 'vehicle'",
      detail:
        '1 line changed; assigns month_premium; sets the technical premium, the premium; 0.00018 becomes 0.0002 (+11.11 %)',
    },
  },
  {
    file: `${POLICY}/taxes/insurance_tax.premium.liquid`,
    from: 'times: 0.19',
    to: 'times: 0.2',
    says: {
      area: 'taxes',
      subject: "tax 'insurance_tax'",
      detail: '1 line changed; sets a tax; 0.19 becomes 0.2 (+5.26 %)',
    },
  },
  {
    file: `${POLICY}/policy.calculations.liquid`,
    from: '{{ 12.50 |',
    to: '{{ 15 |',
    says: {
      area: 'fees',
      subject: 'calculation of fees',
      detail: '1 line changed; sets a fee; 12.50 becomes 15 (+20 %)',
    },
  },
  {
    file: `${POLICY}/underwriting.guidelines.liquid`,
    from: 'policy_values.claims.size > 3',
    to: 'policy_values.claims.size > 2',
    says: { area: 'underwriting', subject: 'underwriting guidelines' },
  },
  {
    file: 'config.json',
    from: '"EUR"',
    to: '"CHF"',
    says: { area: 'settings', detail: "currency: 'EUR' becomes 'CHF'" },
    inForce: 'breaks',
  },
]

/** Compiles without the search for mistakes, because one changed file would require changes to others. */
const compiled = async (path: string): Promise<Configuration> => {
  const { configuration, findings } = await compileArchive(packFolder(path).zip)
  if (!configuration) throw new Error(JSON.stringify(findings))
  return configuration
}

describe('changes between two configurations', () => {
  let motor: Configuration
  let home: Configuration
  let changes: Change[]
  let after: Configuration

  beforeAll(async () => {
    const copy = join(folder, 'planted')
    cpSync('examples/motor/configuration', copy, { recursive: true })
    for (const { file, from, to } of PLANTED) {
      const text = readFileSync(join(copy, file), 'utf8')
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
      writeFileSync(join(copy, file), text.replace(from, to))
    }
    motor = await compiled('examples/motor')
    home = await compiled('examples/home')
    after = await compiled(copy)
    changes = configurationChanges(motor, after)
  })

  test.each(PLANTED.map(planted => [`${planted.from} → ${planted.to}`, planted] as const))(
    'describe %s, with its place and its effect on policies in force',
    (_, { file, says, inForce }) => {
      const found = changes.find(
        change =>
          change.path.endsWith(file) &&
          Object.entries(says).every(([property, text]) => change[property as keyof Change] === text),
      )
      expect(
        found,
        JSON.stringify(
          changes.filter(({ path }) => path.endsWith(file)),
          undefined,
          1,
        ),
      ).toBeDefined()
      expect(found!.inForce?.effect).toBe(inForce)
    },
  )

  test('contain nothing but the planted changes and their three consequences', () => {
    expect(changes.map(({ kind, subject, detail }) => `${kind} ${subject} ${detail}`).sort()).toHaveLength(
      PLANTED.length + 3,
    )
    expect(changes.filter(({ detail }) => detail === "options added: 'app'")).toHaveLength(1)
    expect(
      changes.filter(({ subject, kind }) => kind === 'added' && subject.includes('whole_name')),
    ).toHaveLength(1)
    expect(changes.filter(({ detail }) => detail.startsWith('default payment schedule'))).toHaveLength(1)
  })

  test('are none for the same configuration, even if it is written differently', async () => {
    expect(configurationChanges(motor, motor)).toEqual([])
    const copy = join(folder, 'spelling')
    cpSync('examples/motor/configuration', copy, { recursive: true })
    const policy = join(copy, POLICY, 'policy.json')
    writeFileSync(policy, JSON.stringify(JSON.parse(readFileSync(policy, 'utf8'))))
    const table = join(copy, POLICY, 'tables/region_factor.csv')
    writeFileSync(table, readFileSync(table, 'utf8').replace('1.00', '1.0'))
    expect(configurationChanges(motor, await compiled(copy))).toEqual([])
  })

  test('are added instead of removed, and the reverse, when the configurations are swapped', () => {
    const back = configurationChanges(after, motor)
    const count = (list: Change[], kind: Change['kind']) => list.filter(one => one.kind === kind).length
    expect(count(back, 'added')).toBe(count(changes, 'removed'))
    expect(count(back, 'removed')).toBe(count(changes, 'added'))
  })

  test('count a new product and a removed product as one change each', () => {
    const both = configurationChanges(motor, { ...motor, products: home.products })
    expect(both.map(({ kind, subject }) => `${kind} ${subject}`)).toContain("removed product 'private_motor'")
    expect(both.map(({ kind, subject }) => `${kind} ${subject}`)).toContain("added product 'homeowners'")
  })

  test('break policies in force wherever a deploy finds an incompatible change', () => {
    for (const [before, now] of [
      [motor, after],
      [after, motor],
      [home, { ...home, products: motor.products }],
      [motor, { ...motor, products: { private_motor: { ...motor.products.private_motor!, exposures: [] } } }],
    ] as [Configuration, Configuration][]) {
      const breaking = configurationChanges(before, now).filter(({ inForce }) => inForce?.effect === 'breaks')
      expect(breaking).toHaveLength(incompatibleChanges(before, now).length)
    }
  })

  test('are returned by bindingChanges if they bind policies in force', () => {
    const ofFields = (before: Configuration, now: Configuration): Change[] =>
      configurationChanges(before, now).filter(
        one => one.inForce?.effect === 'binds' && one.product !== undefined,
      )
    const texts = (changes: Change[]): string[] => changes.map(one => JSON.stringify(one)).sort()
    const binding = bindingChanges(motor, after)
    expect(binding.length).toBeGreaterThan(2)
    expect(texts(binding)).toEqual(texts(ofFields(motor, after)))
    expect(texts(bindingChanges(after, motor))).toEqual(texts(ofFields(after, motor)))
    expect([bindingChanges(motor, motor), bindingChanges(motor, home)]).toEqual([[], []])
  })

  test('cover every property of a product', () => {
    const product = home.products.homeowners!
    const other = {
      name: 'x',
      title: 'x',
      type: 'string',
      optional: true,
      repeatable: false,
      searchable: false,
      conditions: [],
    }
    const document = { ...product.documents[0]!, displayName: 'Another' }
    const differing: Record<string, unknown> = {
      displayName: 'Other',
      jurisdictionField: 'other',
      strict: (product as { strict?: boolean }).strict !== true,
      fields: [other],
      exposures: [],
      documents: [document],
      paymentSchedules: [{ type: 'total', name: 'other', displayName: 'Other' }],
      defaultPaymentTerms: { amount: 99, unit: 'day' },
      lapse: { gracePeriodDays: 99 },
      invoicing: { generatingEvent: 'issue', carryForwardBelow: '99' },
      legacyCancellationProration: product.legacyCancellationProration === 'linear' ? 'monthly' : 'linear',
      endReminders: [{ name: 'other', daysBefore: 99 }],
      endorsements: [{ name: 'other', displayName: 'Other', reprice: 'never', documents: [] }],
      renewals: { documents: [document] },
      cancellationTypes: [{ name: 'other', title: 'Other', documents: [], cancellationCategories: [] }],
      fees: [{ name: 'other', displayName: 'Other', proration: 'flat' }],
      taxes: [],
      calculations: { path: 'c', source: '{{ 99 | add_fee: "x" }}' },
      underwriting: { path: 'u', source: '{{ "reject" | set_underwriting_decision }}' },
      templates: {},
      staticDocuments: ['other.pdf'],
      plugins: { getPerilRates: { path: 'other.js', enabled: true } },
      externalRater: 'other',
      tables: {},
      somethingNewer: 'other',
    }
    const unlike = Object.keys(product).filter(name => !['name', 'locator'].includes(name))
    expect(unlike.filter(name => !Object.hasOwn(differing, name))).toEqual([])
    for (const [name, value] of Object.entries(differing)) {
      const changed = { ...home, products: { homeowners: { ...product, [name]: value } } } as Configuration
      expect(configurationChanges(home, changed).length, name).toBeGreaterThan(0)
    }
  })

  test('cover every property of the tenant', () => {
    const items = { key: { dataType: 'string' } }
    const differing: Record<string, unknown> = {
      timeZone: 'Asia/Tokyo',
      currency: 'JPY',
      features: { other: true },
      jurisdictions: ['other'],
      resources: { tables: { other: { columns: [] } }, rangeTables: {}, constraintTables: {} },
      policyholderFields: [],
      policyholderForm: motor.policyholderForm!.toReversed(),
      paymentFields: [],
      testUsers: [],
      roles: { other: 'Other' },
      rolePermissions: { [Object.keys(motor.roles)[0]!]: ['policies.read'] },
      scripts: { 'other.js': '' },
      secrets: { other: { items } },
      customEvents: [{ type: 'custom.other' }],
      bootstrap: { resources: [{ name: 'other' }], groups: [] },
      books: { accounts: {}, bordereaux: {} },
    }
    const unlike = Object.keys(motor).filter(name => !['products', 'tables'].includes(name))
    expect(unlike.filter(name => !Object.hasOwn(differing, name))).toEqual([])
    for (const [name, value] of Object.entries(differing)) {
      const changed = { ...motor, [name]: value } as Configuration
      expect(configurationChanges(motor, changed).length, name).toBeGreaterThan(0)
    }
  })

  test('name the input of the policyholder form that differs', () => {
    const policyholderForm = motor.policyholderForm!.map(input =>
      input.name === 'email' ? { ...input, isRequired: true } : input,
    )
    const changes = configurationChanges(motor, { ...motor, policyholderForm })
    expect(changes.map(({ area, path, subject, detail }) => [area, path, subject, detail])).toEqual([
      [
        'fields',
        'policyholder/policyholder.form.json',
        "input 'email' of the policyholder form",
        "value: prompt 'E-mail', isRequired false, conditions none becomes prompt 'E-mail', isRequired true, conditions none",
      ],
    ])
  })

  test('name the account and the list of columns that differ in the books', () => {
    const { accounts, bordereaux } = motor.books!
    const books = { accounts: { ...accounts, cash: { code: '1801' } }, bordereaux: { other: [] } }
    const said = configurationChanges(motor, { ...motor, books }).map(({ kind, path, subject, detail }) =>
      `${kind} ${path} ${subject} ${detail}`.trim(),
    )
    expect(said).toEqual([
      "changed books.json account 'cash' value: code '1800', name 'Bank' becomes code '1801'",
      `removed books.json bordereau 'quota_share' ${bordereaux.quota_share!.map(one => `'${one}'`).join(', ')}`,
      "added books.json bordereau 'other' none",
    ])
  })

  test('state what a role may do only now, additionally or no longer', () => {
    const role = 'reader_of_all'
    const having = (permissions?: string[]): Configuration => {
      const { rolePermissions: _, ...rest } = motor
      return {
        ...rest,
        roles: { [role]: 'R' },
        ...(permissions && { rolePermissions: { [role]: permissions } }),
      }
    }
    const said = (before: string[] | undefined, after: string[] | undefined): string[] =>
      configurationChanges(having(before), having(after)).map(({ detail }) => detail)
    const [read, list] = ['policies.read', 'policies.list']
    expect(said(undefined, [read])).toEqual(["now permits only 'policies.read'"])
    expect(said(undefined, [])).toEqual(['now permits nothing'])
    expect(said([], undefined)).toEqual(['now permits the same as for users without their own permissions'])
    expect(said([read], [list])).toEqual([
      "also permits 'policies.list'",
      "no longer permits 'policies.read'",
    ])
    expect(said(undefined, undefined)).toEqual([])
  })

  test('report a static document with other contents', () => {
    const path = `${POLICY}/static_documents/general_conditions.pdf`
    const file = (text: string) => [{ path, bytes: new TextEncoder().encode(text) }]
    expect(fileChanges(file('a'), file('a'))).toEqual([])
    expect(fileChanges(file('a'), file('b'))).toMatchObject([
      {
        product: 'private_motor',
        subject: "static document 'general_conditions.pdf'",
        detail: 'has different contents',
      },
    ])
  })

  test('never show the passwords of test users', () => {
    const users = motor.testUsers.map(user => ({ ...user, password: 'Another secret 1' }))
    const found = configurationChanges(motor, { ...motor, testUsers: users })
    expect(found.every(({ detail }) => detail === 'has a different password')).toBe(true)
    expect(found).toHaveLength(users.length)
    expect(JSON.stringify(found)).not.toContain('Another secret 1')
  })
})

const cell = fc.constantFrom('1', '1.0', '2', '2.50', 'a', 'b', '')
const tables = fc.integer({ min: 1, max: 4 }).chain(width =>
  fc.tuple(
    ...[0, 1].map(() =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 }).map(
        (rows): LookupTable => ({
          path: 't.csv',
          columns: ['key', 'value', 'third', 'fourth'].slice(0, width),
          rows,
        }),
      ),
    ),
  ),
)

describe('rowChanges', () => {
  test('finds nothing between a table and itself, and otherwise only rows that really differ', () => {
    fc.assert(
      fc.property(tables, ([old, now]) => {
        expect(rowChanges(old!, old!)).toEqual([])
        const has = (table: LookupTable, row: Readonly<Record<string, string>>): number =>
          table.rows.filter(cells => table.columns.every((column, at) => cells[at] === row[column])).length
        for (const change of rowChanges(old!, now!))
          if (change.kind === 'changed') {
            expect(change.cells.length).toBeGreaterThan(0)
            for (const { from, to } of change.cells) expect(sameCell(from, to)).toBe(false)
          } else {
            const [with_, without] = change.kind === 'added' ? [now!, old!] : [old!, now!]
            expect(has(with_, change.row)).toBeGreaterThan(has(without, change.row))
          }
      }),
    )
  })

  test('returns changes that turn the old rows into the new ones', () => {
    fc.assert(
      fc.property(tables, ([old, now]) => {
        const left = new Map<string, number>()
        const textOf = (cells: readonly string[]): string => cells.map(text => Number(text) || text).join('|')
        const count = (text: string, by: number) => left.set(text, (left.get(text) ?? 0) + by)
        for (const row of old!.rows) count(textOf(row), 1)
        for (const change of rowChanges(old!, now!)) {
          if (change.kind !== 'changed') {
            count(textOf(Object.values(change.row)), change.kind === 'added' ? 1 : -1)
            continue
          }
          const row = old!.rows.find(cells => change.key.every((key, at) => cells[at] === key))!
          count(textOf(row), -1)
          count(
            textOf(
              row.map((text, at) => change.cells.find(one => one.column === old!.columns[at])?.to ?? text),
            ),
            1,
          )
        }
        for (const row of now!.rows) count(textOf(row), -1)
        expect([...left].filter(([, number]) => number !== 0)).toEqual([])
      }),
    )
  })
})

describe('lineHunks', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 14 })
    .map(lines => `${lines.join('\n')}\nend`)

  test('returns hunks that turn the old text into the new one, and none for equal texts', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(lineHunks(before, before)).toEqual([])
        const lines = before.split('\n')
        for (const { oldLine, removed, added } of lineHunks(before, after).reverse()) {
          expect(lines.slice(oldLine - 1, oldLine - 1 + removed.length)).toEqual(removed)
          lines.splice(oldLine - 1, removed.length, ...added)
        }
        expect(lines.join('\n')).toBe(after)
      }),
    )
  })

  test('returns one hunk for each of 20 edits among 2,000 lines', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}`)
    const edited = lines.map((line, at) => (at % 100 === 50 ? `${line}, changed` : line))
    expect(lineHunks(lines.join('\n'), edited.join('\n'))).toHaveLength(20)
  })

  test('returns a single hunk for two texts of 20,000 lines with nothing in common', () => {
    const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join('\n')
    const [hunk, ...others] = lineHunks(lines('a'), lines('b'))
    expect(others).toEqual([])
    expect([hunk!.removed.length, hunk!.added.length]).toEqual([20_000, 20_000])
  })
})

test('30,000 options are compared, and checked in a condition, in linear time', () => {
  const names = (from: number): string[] => Array.from({ length: 30_000 }, (_, at) => `option ${from + at}`)
  const before = withFields([{ name: 'kind', type: 'select', values: names(0) }])
  const after = withFields([
    { name: 'kind', type: 'select', values: names(15_000) },
    { name: 'note', type: 'string', condition: { kind: names(15_000).reverse() } },
  ])
  expect(after.findings.filter(one => one.code === 'conditionNeverHolds')).toEqual([])
  const details = configurationChanges(before.configuration!, after.configuration!).map(one => one.detail)
  expect(details).toEqual([
    expect.stringMatching(/^options added/),
    expect.stringMatching(/^options removed/),
    expect.anything(),
  ])
}, 7_000)
