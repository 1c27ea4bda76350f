// Habits seen in public archives. Each of them deploys without an error; the tests list what the log reports.
import { describe, expect, test } from 'vitest'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { compileWith, foundIn } from './minimal-archive.ts'

type Changes = Parameters<typeof compileWith>[0]

const compiled = (changes: Changes) =>
  compileWith(changes, ({ path, source }) => ({ findings: compileTemplate({ path, source }).findings }))
const found = (changes: Changes): string[] => foundIn(compiled(changes))

/** Returns the content as an editor on Windows saves it. */
const windows = (content: object): string =>
  `\uFEFF${JSON.stringify(content, null, 2).replaceAll('\n', '\r\n')}\r\n`

describe('files', () => {
  test('may have a byte-order mark and carriage returns', () => {
    const { configuration, findings } = compiled({
      'config.json': windows({ timezone: 'Asia/Tokyo', currency: 'jpy', improvedRating: 'true' }),
      'policy/tables/rates.csv': '\uFEFFkey,value\r\nSail,1 \r\n"Motor","1.1"\r\n\r\n',
      'policy/exposures/hull/perils/sinking.premium.liquid':
        '\uFEFF{% assign r = "rates" | lookup: "Sail" %}\r\n{{ 100 | times: r | set_year_premium }}\r\n',
    })
    expect(findings).toEqual([])
    expect(configuration).toMatchObject({ timeZone: 'Asia/Tokyo', currency: 'JPY' })
    expect(configuration!.tables.rates!.rows).toEqual([
      ['Sail', '1'],
      ['Motor', '1.1'],
    ])
  })

  test('that are obsolete, left by systems or only keep folders are ignored, and others get a warning', () => {
    expect(
      found({
        'global.dictionary.json': [],
        'products/boat/perms.json': {},
        'brand/logo.png': 'x',
        'reports/.gitkeep': '',
        'scripts/.gitkeep': '',
        'products/.DS_Store': 'x',
        '__MACOSX/products/._boat': 'x',
        'node_modules/x/index.js': 'x',
        '.github/workflows/deploy.yml': 'x',
        'README.md': '# Boats',
      }),
    ).toEqual([])
    expect(found({ 'package.json': {}, 'tests/rater.test.js': 'x', 'policy/notes.txt': 'x' })).toEqual([
      'WARNING unknownFile package.json',
      'WARNING unknownFile policy/notes.txt',
      'WARNING unknownFile tests/',
    ])
  })

  test('may be those of a product with a name of several words, and tables may be unused', () => {
    const product = 'products/Life & Care (2)/policy'
    expect(
      found({
        [`${product}/policy.json`]: '{"fields":[],"documents":[]}',
        [`${product}/exposures/Insured_Person/exposure.json`]: { name: 'insured', fields: [] },
        [`${product}/tables/unused_discount.csv`]: 'one,0.99\ntwo,0.97',
        [`${product}/tables/states.csv`]: 'Key,Value\n"ID",Idaho\nDC,"Washington, DC"',
        [`${product}/tables/makes.csv`]: 'year,make,value\n2012,Ford,0\n2012,Iveco,0',
      }),
    ).toEqual([
      `WARNING noPerils ${product}/exposures`,
      `WARNING nameDiffersFromFile ${product}/exposures/Insured_Person/exposure.json:2`,
      `WARNING headerCase ${product}/tables/states.csv:1`,
    ])
  })
})

test('a file with an extension in capitals is reported with the extension that is read', () => {
  const { findings } = compiled({
    'policy/exposures/hull/perils/Fire.JSON': { name: 'Fire', fields: [] },
    'policy/exposures/hull/perils/Fire.premium.LIQUID': '{{ 1 | set_year_premium }}',
    'policy/tables/rates.CSV': 'key,value\na,1\n',
    'scripts/main/rater.JS': 'exports.getPerilRates = () => ({})',
  })
  expect(findings.map(({ message }) => /Did you mean '(.*)'/.exec(message)?.[1])).toEqual([
    'products/boat/policy/exposures/hull/perils/Fire.json',
    'products/boat/policy/exposures/hull/perils/Fire.premium.liquid',
    'scripts/main/rater.js',
  ])
})

test('field names may begin with a digit or an underscore, and properties of screens are accepted', () => {
  const field = { title: 'A', type: 'select', values: ['No', 'Yes'] }
  expect(
    found({
      'policy/policy.json': {
        fields: [
          { ...field, name: '10_year_losses', width: '3', newline: true, heading: 'Questions' },
          { ...field, name: '_description', optional: 'false', match: ['No'] },
          { name: 'licence', type: 'string', decimalPlaces: 0, regex: '^[0-9]{9}$' },
          {
            name: 'drivers',
            type: 'group',
            repeatable: true,
            maximum: 6,
            condition: { '10_year_losses': 'Yes' },
            fields: [{ name: 'photo', type: 'media', repeatable: true }],
          },
        ],
        documents: [],
        searchSummary: ['licence', 'nothing_known'],
        reminders: { enabled: true, from: 'policy.end', name: 'Ends', offset: '-7d' },
      },
    }),
  ).toEqual([
    'WARNING unknownProperty policy/policy.json:24',
    'WARNING propertyOfOtherType policy/policy.json:31',
  ])
})

test('a template with untidy markup, stray HTML and files of other sites compiles with one warning', () => {
  const source = `{% assign policy_c =  = data.policy.characteristics[0] %}
    {% assign odd = data.policy.exposures.perils[0].characteristics[0].fields_values %}
    {% assign total = policy_c.gross_premium | plus: "policy_c.gross_taxes" %}
    <head><link rel="stylesheet" href="https://static.example.com/styles.css"></head>
    {% header %}<img src="http://img.example.com/logo.png" height="72px">{% endheader %}
    {{policy_c.policy_end_timestamp| timestamp_millis_print: "MMM dd, YYYY" }}</br>
    {% if (total) == "1" or  (odd) == "2" %}{{ total | format_number_currency: "en","US" | remove: "," }}{% endif %}
    </body>{% footer %}Page {{ | page_number }} of {{ | page_count }}{% endfooter %}</html>`
  const document = { fileName: 'schedule', templateName: 'schedule.template.liquid', pageLayout: {} }
  expect(
    found({
      'policy/policy.json': { fields: [], documents: [document] },
      'policy/schedule.template.liquid': source,
    }),
  ).toEqual(['WARNING doubledEqualsSign policy/schedule.template.liquid:1'])
})

test('misspelled plugins, disabled plugins without a script and broken unused scripts are only warnings', () => {
  expect(
    found({
      'policy/policy.json': {
        fields: [],
        plugins: {
          getPerilRates: { path: '/boat/rater.js' },
          getUnderWritingResult: { path: 'boat/rater.js', enabled: true },
          getProrationResult: { path: 'boat/nothing.js', enabled: false },
        },
      },
      'scripts/boat/rater.js': 'exports.getPerilRates = data => ({ pricedPerilCharacteristics: {} })',
      'scripts/old/unused.js': 'let x = ;',
    }),
  ).toEqual([
    'WARNING unknownPlugin policy/policy.json:7',
    'WARNING missingPlugin policy/policy.json:11',
    'WARNING badScript scripts/old/unused.js:1',
  ])
})

test('a role that no file defines is only a warning for a test user', () => {
  const user = { username: 'alice.lee', name: 'Alice Lee', password: 'short', roles: ['underwriter2'] }
  expect(found({ 'security/test_users.json': [user] })).toEqual([
    'WARNING unknownRole security/test_users.json:6',
  ])
})
