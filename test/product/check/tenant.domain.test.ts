import { describe, expect, test } from 'vitest'
import { compileScript } from '../../../src/extension/plugins/runners/script.ts'
import { compileConfiguration } from '../../../src/product/compile.ts'
import type { ArchiveContent } from '../archive-maker.ts'
import { compileWith, foundIn } from '../minimal-archive.ts'

const found = (changes: Record<string, ArchiveContent[string] | undefined>) => foundIn(compileWith(changes))

describe('config.json', () => {
  test('sets the time zone, the currency and the features', () => {
    const { configuration, findings } = compileWith({
      'config.json': {
        timezone: 'America/New_York',
        currency: 'usd',
        improvedRating: 'true',
        features: { 'property.product.versioning.m2.enabled': true, 'property.x.enabled': 'False' },
      },
    })
    expect(findings).toEqual([])
    expect(configuration).toMatchObject({
      timeZone: 'America/New_York',
      currency: 'USD',
      features: {
        'property.product.versioning.m2.enabled': true,
        'property.x.enabled': false,
        improvedRating: true,
      },
    })
  })

  test('must name a time zone and a currency, which have no defaults', () => {
    const messages = (config: object | undefined) =>
      compileWith({ 'config.json': config }).findings.map(finding => finding.message)
    const [zone, currency] = [
      '"timezone" with a name of the IANA database, such as "Europe/Berlin"',
      '"currency" with an ISO 4217 code, such as "EUR"',
    ]
    expect(found({ 'config.json': undefined })).toEqual(['ERROR missingConfig config.json'])
    expect(messages(undefined)).toEqual([`There is no config.json. Add it with ${zone}, and ${currency}.`])
    expect(messages({})).toEqual([
      `config.json lacks 'timezone' and 'currency'. Add ${zone}, and ${currency}.`,
    ])
    expect(found({ 'config.json': { timezone: 'UTC' } })).toEqual(['ERROR missingConfig config.json:1'])
    expect(messages({ timezone: 'UTC', currency: null })).toEqual([
      `config.json lacks 'currency'. Add ${currency}.`,
    ])
    expect(messages({ currency: 'EUR' })).toEqual([`config.json lacks 'timezone'. Add ${zone}.`])
  })

  test('is not reported as missing when the archive is empty', () => {
    expect(
      compileConfiguration([], { compileLiquid: () => ({ findings: [] }), compileScript }).findings,
    ).toMatchObject([
      { severity: 'WARNING', path: 'policyholder/policyholder.dictionary.json' },
      { severity: 'ERROR', code: 'noProducts' },
    ])
  })

  test('must name a known time zone and a known currency', () => {
    expect(found({ 'config.json': { timezone: 'Berlin', currency: 'EURO' } })).toEqual([
      'ERROR unknownTimeZone config.json:2',
      'ERROR unknownCurrency config.json:3',
    ])
  })
})

describe('policyholders', () => {
  test('have the fields of the dictionary, whether it is a list or an object with a list', () => {
    const list = [{ name: 'email', type: 'email', search: 'text' }]
    for (const dictionary of [list, { fields: list }])
      expect(
        compileWith({ 'policyholder/policyholder.dictionary.json': dictionary }).configuration
          ?.policyholderFields,
      ).toMatchObject([{ name: 'email', type: 'email', searchable: true }])
  })

  test('have no fields without a dictionary, with a warning', () => {
    expect(found({ 'policyholder/policyholder.dictionary.json': undefined })).toEqual([
      'WARNING missingFile policyholder/policyholder.dictionary.json',
    ])
  })

  test('have the errors of their dictionary reported at their lines, in either form', () => {
    const list = [{ name: 'a', type: 'string' }, { name: 'b', type: 'txt' }, 'c']
    expect(found({ 'policyholder/policyholder.dictionary.json': list })).toEqual([
      'ERROR unknownFieldType policyholder/policyholder.dictionary.json:8',
      'ERROR badValue policyholder/policyholder.dictionary.json:10',
    ])
    expect(found({ 'policyholder/policyholder.dictionary.json': { fields: list } })).toEqual([
      'ERROR unknownFieldType policyholder/policyholder.dictionary.json:9',
      'ERROR badValue policyholder/policyholder.dictionary.json:11',
    ])
  })

  test('have the fields of the form in its order, with what screens require', () => {
    const form = {
      pages: [
        {
          sections: [
            { fields: [{ name: 'kind', prompt: ' Kind ', required: true, updateable: true }] },
            {
              fields: ['last_name', { name: 'firm', prompt: ' ', visibleIf: { kind: 'x', size: [1, 2] } }, 7],
            },
          ],
        },
        { sections: [{ fields: [{ name: 'kind', required: false }, { prompt: 'No name' }] }] },
        { fields: [{ name: 'late', visibleIf: { kind: [{}, 'x', null, [1]] } }] },
      ],
    }
    expect(
      compileWith({ 'policyholder/policyholder.form.json': form }).configuration?.policyholderForm,
    ).toEqual([
      { name: 'kind', prompt: 'Kind', isRequired: true, conditions: [] },
      { name: 'last_name', isRequired: false, conditions: [] },
      {
        name: 'firm',
        isRequired: false,
        conditions: [
          { field: 'kind', values: ['x'] },
          { field: 'size', values: ['1', '2'] },
        ],
      },
      { name: 'late', isRequired: false, conditions: [{ field: 'kind', values: ['x'] }] },
    ])
    expect(compileWith({}).configuration?.policyholderForm).toBeUndefined()
  })

  test('have a warning for each field of a form or card that is not in the dictionary', () => {
    expect(
      found({
        'policyholder/policyholder.form.json': {
          pages: [
            {
              sections: [
                { fields: [{ name: 'last_name' }, { name: 'first_name', visibleIf: { kind: 'x' } }] },
              ],
            },
          ],
        },
        'policyholder/policyholder.card.json': {
          leftText: '{{last_name}} {{ title }}',
          fields: ['last_name', 'mail'],
        },
      }),
    ).toEqual([
      'WARNING unknownFormField policyholder/policyholder.card.json:2',
      'WARNING unknownFormField policyholder/policyholder.card.json:5',
      'WARNING unknownFormField policyholder/policyholder.form.json:10',
      'WARNING unknownFormField policyholder/policyholder.form.json:13',
    ])
  })
})

test('a policyholder card may show policyholder_id, which is not a field; a form may not', () => {
  expect(
    found({
      'policyholder/policyholder.card.json': {
        leftText: '{{last_name}}',
        rightText: 'No. {{policyholder_id}}',
      },
      'policyholder/policyholder.form.json': { fields: ['policyholder_id'] },
    }),
  ).toEqual(['WARNING unknownFormField policyholder/policyholder.form.json:3'])
})

describe('test users', () => {
  const alice = { username: 'alice.lee', name: 'Alice Lee', password: 'boat', roles: ['admin', 'claims'] }
  const expected = [alice, { username: 'bob', name: 'bob', password: '1234', roles: [] }]

  test.each<[string, object]>([
    ['a list', [alice, { username: 'bob', password: 1234 }]],
    ['an object around a list', { users: [alice, { username: 'bob', password: 1234 }] }],
    ['an object by username', { 'alice.lee': { ...alice, username: undefined }, bob: { password: '1234' } }],
  ])('can be given as %s', (_, users) => {
    const { configuration, findings } = compileWith({
      'security/test_users.json': users,
      'security/roles.json': { claims: 'Claims Team', finance: { displayName: 'Finance' } },
    })
    expect(findings).toEqual([])
    expect(configuration?.testUsers).toEqual(expected)
    expect(configuration?.roles).toEqual({ claims: 'Claims Team', finance: 'Finance' })
  })

  test('need a unique name, a password and known roles', () => {
    const users = [
      { username: 'a', password: 'x' },
      { username: 'a', password: 'y' },
      { username: 'b', password: '' },
      { username: 'c', password: 'x', roles: 'pilot' },
    ]
    expect(found({ 'security/test_users.json': users })).toEqual([
      'ERROR duplicateName security/test_users.json:6',
      'ERROR badValue security/test_users.json:12',
      'WARNING unknownRole security/test_users.json:17',
    ])
  })
})

describe('roles', () => {
  const messagesOf = (roles: object): string[] =>
    compileWith({ 'security/roles.json': roles }).findings.map(({ message }) => message)

  test('with a misspelled property get a warning, since without permissions they have those of employees', () => {
    const misspelt = { claims: { displayName: 'Claims', permission: ['policies.read'] } }
    expect(messagesOf(misspelt)).toEqual([
      "'claims.permission' is not a known property here and is ignored. Correct its name or remove it. Did you mean 'permissions'?",
    ])
    const { configuration } = compileWith({ 'security/roles.json': misspelt })
    expect(configuration).toMatchObject({ roles: { claims: 'Claims' } })
    expect(configuration?.rolePermissions).toBeUndefined()
  })

  test('of the wrong type are rejected with the expected type', () => {
    expect(messagesOf({ claims: ['policies.read'] })).toEqual(["'claims' must be an object, not a list."])
    expect(messagesOf({ claims: { permissions: { policies: 'read' } } })).toEqual([
      "'claims.permissions' must be text, not an object.",
    ])
  })

  test('are named after their keys if their display name is missing or blank', () => {
    const { configuration } = compileWith({
      'security/roles.json': { a: '', b: {}, c: { displayName: ' ' } },
    })
    expect(configuration?.roles).toEqual({ a: 'a', b: 'b', c: 'c' })
  })
})

describe('files', () => {
  test('that are unknown get a warning, and a whole unknown folder only one', () => {
    expect(
      found({
        'notes.txt': '',
        'tools/a.sh': '',
        'tools/b.sh': '',
        'policy/polcy.json': '{}',
        'policy/tables/readme.txt': '',
        'bootstrap/notes.csv': '',
      }),
    ).toEqual([
      'WARNING unknownFile bootstrap/notes.csv',
      'WARNING unknownFile notes.txt',
      'WARNING unknownFile policy/polcy.json',
      'WARNING unknownFile tools/',
    ])
  })

  test('that are obsolete or meant for people are ignored without a warning', () => {
    expect(
      found({
        'perms.json': '{',
        'global.dictionary.json': '[',
        'brand/logo.png': 'x',
        'reports/all.sql': 'x',
        'README.md': 'x',
        LICENSE: 'x',
        'products/boat/perms.json': '{',
        'policyholder/policyholder.json': '{}',
      }),
    ).toEqual([])
  })

  test('of claims are ignored, with one warning for each product', () => {
    const { findings } = compileWith({
      'products/boat/claim/claim.json': '{',
      'products/boat/claim/claim.form.json': '{}',
      'products/boat/claim/subclaim/subclaim.json': '{}',
    })
    expect(findings.map(({ severity, path, code, message }) => [severity, path, code, message])).toEqual([
      [
        'WARNING',
        'products/boat/claim/',
        'unsupportedFeature',
        'Bindery has no claims, so the files in this folder are not read. Keep claims in another system.',
      ],
    ])
  })

  test('of unsupported features and of older payment forms get a warning with the consequence', () => {
    const { findings } = compileWith({
      'policy/premiumReporting.json': '{}',
      'payment/payment.form.json': '{}',
      'payment/payment.dictionary.json': '[]',
    })
    expect(findings.map(({ severity, path, code, message }) => [severity, path, code, message])).toEqual([
      [
        'WARNING',
        'payment/payment.dictionary.json',
        'olderForm',
        expect.stringContaining('whose fields are not read'),
      ],
      [
        'WARNING',
        'payment/payment.form.json',
        'olderForm',
        expect.stringContaining('whose fields are not read'),
      ],
      [
        'WARNING',
        'products/boat/policy/premiumReporting.json',
        'unsupportedFeature',
        expect.stringContaining('is rated and billed as an ordinary one'),
      ],
    ])
  })

  test('that are not valid JSON are reported with line and column, and the other files are still checked', () => {
    const { findings } = compileWith({
      'config.json': '{\n  "timezone": "UTC"\n  "currency": "EUR"\n}',
      'policy/fees.json': '{"fees": [{"name": 1, "name": 2}]}',
      'payment/payment.json': new Uint8Array([0x7b, 0xff, 0x7d]),
      'policy/renewals.json': '[]',
    })
    expect(
      findings.map(({ path, line, column, code }) => `${path.split('/').pop()}:${line}:${column} ${code}`),
    ).toEqual([
      'config.json:3:3 badSyntax',
      'payment.json:undefined:undefined textNotUtf8',
      'fees.json:1:23 duplicateKey',
      'renewals.json:1:1 badValue',
    ])
  })
})

describe('bootstrap resources', () => {
  const at = 'bootstrap/resources/'
  const start = (config: object, files: Record<string, string> = {}) =>
    found({
      [`${at}config.json`]: JSON.stringify(config),
      ...Object.fromEntries(
        Object.entries(files).map(([path, content]) => [`${at}resourceFiles/${path}`, content]),
      ),
    })
  const zones = { staticName: 'zones' }
  const group = (more: object) => ({ selectionStartTime: '2020-01-01T00:00:00Z', resourceNames: [], ...more })

  test('are accepted when every resource has its file and every group its resources', () => {
    expect(
      start(
        { resourceInstances: { zones1: zones }, resourceGroups: { g: group({ resourceNames: ['zones1'] }) } },
        { 'tables/zones1.csv': 'key,value' },
      ),
    ).toEqual([])
  })

  test('are rejected when something is missing, duplicated or wrongly named', () => {
    const bad = 'ERROR badBootstrap bootstrap/resources/config.json:1'
    const file = { 'tables/zones1.csv': '' }
    expect(start({ resourceInstances: { zones1: zones } })).toEqual([bad])
    expect(start({ resourceInstances: { zones1: { staticName: 'no name' } } }, file)).toEqual([bad])
    expect(
      start({ resourceInstances: { zones1: zones } }, { ...file, 'documentTemplates/zones1.liquid': '' }),
    ).toEqual([bad])
    expect(start({ resourceGroups: { g: group({ resourceNames: ['zones1'] }) } })).toEqual([bad])
    expect(start({ resourceGroups: { g: group({ selectionStartTime: 'soon' }) } })).toEqual([bad])
    expect(
      start(
        {
          resourceInstances: { zones1: zones, zones2: zones },
          resourceGroups: { g: group({ resourceNames: ['zones1', 'zones2'] }) },
        },
        { ...file, 'tables/zones2.csv': '' },
      ),
    ).toEqual([bad])
    expect(found({ [`${at}resourceFiles/tables/zones1.csv`]: '' })).toEqual([bad.replace(':1', '')])
  })

  test('may have up to 50 valid allowed hosts if they are secrets, and none if they are not', () => {
    const bank = (allowedHosts: unknown) =>
      start(
        { resourceInstances: { bank1: { staticName: 'bank', allowedHosts } } },
        { 'secrets/bank1.json': '{"pin":"4711"}' },
      ).filter(line => !line.includes('secretInArchive'))
    for (const good of [['Bank.example.com', '*.bank.example.com'], 'bank.example.com', []])
      expect(bank(good)).toEqual([])
    const bad = ['ERROR badBootstrap bootstrap/resources/config.json:1']
    for (const wrong of ['https://bank.example.com', 'bank.example.com:443', '*', 'a.*.com', ''])
      expect(bank([wrong]), wrong).toEqual(bad)
    expect(bank(Array.from({ length: 51 }, (_, at) => `h${at}.example.com`))).toEqual(bad)
    const instances = { zones1: { ...zones, allowedHosts: ['a.example.com'] } }
    expect(start({ resourceInstances: instances }, { 'tables/zones1.csv': 'key,value' })).toEqual(bad)
  })

  test('get a warning for an unused file and for a secret in the archive', () => {
    expect(start({}, { 'tables/zones1.csv': '', 'secrets/a.json': '{}' })).toEqual([
      'WARNING secretInArchive bootstrap/resources/resourceFiles/secrets',
      'WARNING unknownFile bootstrap/resources/resourceFiles/secrets/a.json',
      'WARNING unknownFile bootstrap/resources/resourceFiles/tables/zones1.csv',
    ])
    expect(start({}, { 'secrets/a.json': '{' }).join()).toContain('ERROR badSyntax')
  })
})
