import { describe, expect, test } from 'vitest'
import { type Base, PLANTED, type Planted } from './planted.ts'
import { compiled, type Edits, edited, filesOfBase, lenient, pathIn, textOf } from './strict-archive.ts'

const all = Object.values(PLANTED).flat()

test('there are at least 60 planted mistakes, and at least five of each kind', () => {
  expect(all.length).toBeGreaterThanOrEqual(60)
  for (const [kind, planted] of Object.entries(PLANTED))
    expect(planted.length, kind).toBeGreaterThanOrEqual(5)
})

describe.each(Object.entries(PLANTED))('%s', (_, planted) => {
  test.each(planted.map(one => [one.what, one] as const))(
    'reports %s as an error at its line',
    async (_what, one) => {
      const { in: base = 'starter', edits, code, foundIn, line, says } = one
      const files = edited(base, edits)
      const { configuration, findings } = await compiled(files)
      const path = pathIn(base, foundIn ?? Object.keys(edits)[0]!)
      const shown = findings
        .map(one => `${one.severity} ${one.path}:${one.line} ${one.code} ${one.message}`)
        .join('\n')
      const found = findings.find(
        one => one.path === path && one.code === code && isAt(one.line, textOf(files[path]), line),
      )
      expect(found, `${path} ${code} "${line}"\n${shown}`).toBeDefined()
      expect(found!.severity).toBe('ERROR')
      if (says) expect(found!.message).toContain(says)
      expect(configuration).toBeUndefined()
    },
  )
})

test('a look-up in a missing table is reported once, and its value is not reported too', async () => {
  const [mistake] = all.filter(({ what }) => what === 'a table with a typing error')
  const { findings } = await compiled(edited('starter', mistake!.edits))
  expect(findings.filter(one => one.code === 'missingTable')).toHaveLength(1)
})

test('a misspelled filter for the premium is reported once, with the filter that was meant', async () => {
  const premium = 'exposures/bicycle/perils/theft.premium.liquid'
  const { findings } = await compiled(
    edited('starter', { [premium]: ['set_year_premium', 'set_yearly_premium'] }),
  )
  expect(findings.map(({ code, message }) => [code, message])).toEqual([
    ['unknownFilter', expect.stringContaining("Did you mean 'set_year_premium'?")],
  ])
})

const isAt = (line: number | undefined, text: string, wanted: string): boolean =>
  wanted === '' || text.split('\n')[(line ?? 0) - 1]?.includes(wanted) === true

const BASES: readonly Base[] = ['starter', 'motor', 'home']

test.each(BASES)('the check finds nothing in %s', async base => {
  const { configuration, findings } = await compiled(filesOfBase(base))
  expect(findings).toEqual([])
  expect(Object.values(configuration!.products)[0]!.strict).toBe(true)
})

test('the check finds nothing in motor with its rater, underwriter and installments plugins enabled', async () => {
  const on = (file: string) =>
    [`"main/${file}.js", "enabled": false`, `"main/${file}.js", "enabled": true`] as const
  let files = filesOfBase('motor')
  for (const file of ['rater', 'underwriter', 'installments']) {
    const path = pathIn('motor', 'policy.json')
    files = { ...files, [path]: textOf(files[path]).replace(...on(file)) }
  }
  expect((await compiled(files)).findings).toEqual([])
})

test.each([
  ['rater', 'exposures/vehicle/perils/glass.premium.liquid'],
  ['underwriter', 'underwriting.guidelines.liquid'],
])('a script that sets nothing is not reported when the plugin %s is enabled', async (file, script) => {
  const found = async (...more: Edits[]) => {
    const files = edited(
      'motor',
      Object.assign({ [script]: '{% comment %}the plugin{% endcomment %}' }, ...more),
    )
    return (await compiled(files)).findings.map(one => one.code).filter(one => one === 'scriptSetsNothing')
  }
  expect(await found()).toEqual(['scriptSetsNothing'])
  const on = [`"main/${file}.js", "enabled": false`, `"main/${file}.js", "enabled": true`] as const
  expect(await found({ 'policy.json': on })).toEqual([])
})

test.each([
  [
    'that it makes itself',
    'const socotraApi = { tablelookup: () => 1 }; const unused = () => socotraApi.tablelookup()',
  ],
  ['that it is given', 'const unused = socotraApi => socotraApi.tablelookup()'],
  ['that it adds to', 'socotraApi.old = () => 1; const unused = () => socotraApi.old()'],
  ['that it may lack', 'const unused = () => socotraApi.newer?.()'],
])('a script may call a function of socotraApi %s', async (_, line) => {
  const files = edited('motor', {
    '/scripts/main/rater.js': ['function mileageFactor', `${line}\nfunction mileageFactor`],
    'policy.json': ['"main/rater.js", "enabled": false', '"main/rater.js", "enabled": true'],
  })
  expect((await compiled(files)).findings).toEqual([])
})

test('bootstrap templates that do not compile get a warning', async () => {
  const at = '/bootstrap/resources'
  const found = async (liquid: string, velocity: string) => {
    const instances = { letter_1: { staticName: 'letter' }, head_1: { staticName: 'head' } }
    const { configuration, findings } = await compiled(
      edited('starter', {
        [`${at}/config.json`]: JSON.stringify({ resourceInstances: instances }),
        [`${at}/resourceFiles/documentTemplates/letter_1.liquid`]: liquid,
        [`${at}/resourceFiles/documentTemplateSnippets/head_1.vm`]: velocity,
      }),
    )
    expect(configuration).toBeDefined()
    return findings.map(({ severity, code, path }) => `${severity} ${code} ${path.split('/').at(-1)}`)
  }
  expect(await found('{{ data.policy.display_id }}', '$data.policy.display_id')).toEqual([])
  expect(await found('{% if data.policy %}', '#if($data.policy)')).toEqual([
    'WARNING templateUnreadable head_1.vm',
    expect.stringMatching(/^WARNING \w+ letter_1\.liquid$/),
  ])
})

test('bootstrap tables that an upload would reject get a warning', async () => {
  const at = '/bootstrap/resources'
  const found = async (files: Record<string, string>) => {
    const names = Object.keys(files).map(path => path.replace(/^.*\/|\..*$/g, ''))
    const instances = Object.fromEntries(names.map(name => [name, { staticName: name }]))
    const edits = Object.entries(files).map(([path, text]) => [`${at}/resourceFiles/${path}`, text])
    const { configuration, findings } = await compiled(
      edited('starter', {
        [`${at}/config.json`]: JSON.stringify({ resourceInstances: instances }),
        ...Object.fromEntries(edits),
      }),
    )
    expect(configuration).toBeDefined()
    return findings.map(
      ({ severity, code, path, line }) => `${severity} ${code} ${path.split('/').at(-1)}:${line}`,
    )
  }
  expect(
    await found({
      'tables/zones.csv': '\uFEFFkey,value\r\n"north, far",1\r\n',
      'rangeTables/ages.csv': 'rangeStart,rangeEnd,factor\n0,18,2\n18,,1\n',
      'constraintTables/trades.csv': 'trade,use\nbaker,shop\n',
      'tables/packed.csv': 'PK\u0003\u0004',
    }),
  ).toEqual([])
  expect(
    await found({
      'tables/zones.csv': 'key,value\nnorth,1,2\nsouth\n',
      'tables/open.csv': 'key,value\n"north,1\n',
      'tables/none.csv': '\n',
      'rangeTables/ages.csv': 'rangeStart,rangeEnd\n18,0\n',
      'constraintTables/trades.csv': 'trade;use\nbaker;shop\n',
    }),
  ).toEqual([
    'WARNING badTable trades.csv:1',
    'WARNING badTable ages.csv:2',
    'WARNING badTable none.csv:1',
    'WARNING badTable open.csv:2',
    'WARNING badTable zones.csv:2',
    'WARNING badTable zones.csv:3',
  ])
})

test('without strict, the same mistakes are warnings and the archive compiles', async () => {
  const sample: Planted[] = Object.values(PLANTED).flatMap(planted => planted.slice(0, 2))
  for (const { what, in: base = 'starter', edits, code } of sample) {
    const { configuration, findings } = await compiled(lenient(edited(base, edits), base))
    const own = findings.filter(one => one.code === code)
    expect(own.length, what).toBeGreaterThan(0)
    // These are errors in every product.
    if (['missingTable', 'wrongDelimiter'].includes(code)) continue
    expect(
      own.map(one => one.severity),
      what,
    ).toEqual(own.map(() => 'WARNING'))
    expect(configuration, what).toBeDefined()
  }
})
