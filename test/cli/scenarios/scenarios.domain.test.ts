import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, describe, expect, test } from 'vitest'
import { packFolder } from '../../../cli/folder.ts'
import { bindery, binderyWith } from '../terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

let copies = 0

/** Copies the starter with one scenario file of this text, or with its own scenarios. */
function starterWith(text?: string, name = 'own.yaml'): { root: string; file: string } {
  copies += 1
  const root = join(folder, `starter${copies}`)
  cpSync('cli/starter', root, { recursive: true })
  const file = join(root, 'scenarios', name)
  if (text !== undefined) {
    rmSync(join(root, 'scenarios'), { recursive: true })
    mkdirSync(join(root, 'scenarios'))
    writeFileSync(file, text)
  }
  return { root, file }
}

const BICYCLE = `
policy:
  policyStartTimestamp: 2027-01-01
  fieldValues: { channel: direct }
  exposures:
    - exposureName: bicycle
      fieldValues: { kind: electric, value: 2800, kept: cellar }
      perils: [{ name: theft }, { name: damage }]
`

const change = (file: string, from: string, to: string): void => {
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(from)
  writeFileSync(file, text.replace(from, to))
}

describe('bindery test', () => {
  test.each(['cli/starter', 'examples/motor', 'examples/home'])('passes the scenarios of %s', async root => {
    const { exit, out, err } = await bindery('test', root)
    expect({ exit, err }, out).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/^\d passed \(\d+ steps, \d+ values compared, \d+\.\d\d s\)$/m)
  })

  test.each(['motor', 'home'])('reads worked.json of examples/%s as scenarios', async example => {
    const { exit, out } = await bindery('test', `examples/${example}`, `examples/${example}/worked.json`)
    expect(out).toMatch(/^5 passed \(5 steps, \d{3} values compared/m)
    expect(exit).toBe(0)
  })

  test('shows the expected and the actual value with the line, and exits with 1', async () => {
    const { root, file } = starterWith()
    rmSync(file, { force: true })
    const life = join(root, 'scenarios/life.yaml')
    change(life, 'total: 281.55', 'total: 281.5')
    change(life, 'totalDue: 25.84', 'totalDue: 26')
    const { exit, out } = await bindery('test', root, '--filter', 'electric')
    expect(exit).toBe(1)
    expect(out.replace(/, \d+\.\d\d s/, '')).toBe(`✗ An electric bicycle over two terms ${life}, 9 steps
    the new policy at 2027-01-01
      ${life}:16:3
      total
        expected  281.5
        got       281.55
    step 3, endorse at 2027-06-21
      ${life}:48:13
      newInvoices[0].totalDue
        expected  26
        got       25.84
1 failed (9 steps, 45 values compared)
`)
  })

  test('fails only those scenarios that a changed rate concerns', async () => {
    const { root } = starterWith()
    change(
      join(root, 'configuration/products/starter_product/policy/tables/theft_rate.csv'),
      'race,0.071',
      'race,0.072',
    )
    const { exit, out } = await bindery('test', root, '--json')
    const { passed, failed, files } = JSON.parse(out)
    expect({ exit, passed, failed }).toEqual({ exit: 1, passed: 2, failed: 1 })
    const failures = files.flatMap((file: { scenarios: { name: string; failures: object[] }[] }) =>
      file.scenarios.flatMap(one => one.failures.map(failure => ({ name: one.name, ...failure }))),
    )
    // 8,000 × 0.072 × 1.25 + 8,000 × 0.021
    expect(failures).toMatchObject([
      { name: 'A bicycle of 8,000 is accepted', step: 'create', line: 14, expected: 878, got: '888.00' },
    ])
  })

  test('exits with 1 if the configuration has mistakes', async () => {
    const { root } = starterWith()
    change(join(root, 'configuration/products/starter_product/policy/policy.json'), '"monthly"', '"montly"')
    rmSync(join(root, 'configuration/products/starter_product/policy/fees.json'))
    writeFileSync(join(root, 'configuration/products/starter_product/policy/fees.json'), '{')
    const { exit, err } = await bindery('test', root)
    expect(exit).toBe(1)
    expect(err).toContain('The configuration has mistakes')
  })

  test('leaves scenarios out of the archive, whether they are next to the configuration or in it', () => {
    const { root } = starterWith()
    const inside = join(root, 'configuration')
    cpSync(join(root, 'scenarios'), join(inside, 'scenarios'), { recursive: true })
    for (const place of [root, inside]) {
      const names = Object.keys(unzipSync(packFolder(place).zip))
      expect(names).toContain('products/starter_product/policy/policy.json')
      expect(names.filter(name => name.includes('scenarios'))).toEqual([])
    }
  })

  test('finds the scenarios next to the configuration when it gets that folder', async () => {
    expect((await bindery('test', 'examples/motor/configuration')).out).toContain('2 passed')
  })

  test('finds the scenarios next to the configuration when it gets the folder around both', async () => {
    const around = join(folder, 'around')
    cpSync('cli/starter', join(around, 'starter-main'), { recursive: true })
    const { exit, out } = await bindery('test', around)
    expect([exit, out]).toEqual([0, expect.stringContaining('3 passed')])
  })
})

test('the end of a policy is reported once, also if it is cancelled later and reinstated', async () => {
  const steps = `
steps:
  - issue: { }
    at: 2027-01-01
  - pay:
  - wait:
    at: 2028-01-03
    expect: { events: [policy.end] }
  - cancel: { coverageEndTimestamp: 2027-12-01 }
  - reinstate:
    expect:
      events: [reinstatement.create, reinstatement.accept, invoice.issue, policy.invoice, reinstatement.issue, payment.pay, payment.pay]
  - wait:
    at: 2028-01-05
    expect: { events: [] }
`
  const { root } = starterWith(`name: One${BICYCLE}${steps}`)
  const { exit, out } = await bindery('test', root)
  expect(exit, out).toBe(0)
})

describe('expectations', () => {
  const outcome = async (expectation: string): Promise<{ exit: number; out: string }> => {
    const { root } = starterWith(`name: One${BICYCLE}expect:\n${expectation}`)
    return await bindery('test', root)
  }

  test.each([
    ['total: 281.55'],
    ['total: "281.550"'],
    ['taxGroups: { insurance_tax: 44.15 }'],
    ['perils: [{ peril: theft }, { premium: 58.8 }]'],
    ['policy: { productName: starter_product, originalContractEndTimestamp: 2028-01-01 }'],
    ['policy: { originalContractStartTimestamp: 2027-01-01 00:00 }'],
    [
      'events: [policy.create, policy.quote.create, policy.quote.update, policy.quote.accept, policy.finalize]',
    ],
  ])('hold: %s', async expectation => {
    const { exit, out } = await outcome(`  ${expectation}`)
    if (!expectation.startsWith('events')) expect(exit, out).toBe(0)
  })

  test.each([
    ['total: 281.56', 'expected  281.56\n        got       281.55'],
    ['fees: { service_fee: 5 }', 'expected  5\n        got       nothing'],
    ['perils: [{ peril: theft }]', 'perils (1 entry expected, 2 entries got)'],
    ['notes: [Fine]', 'expected  ["Fine"]\n        got       []'],
    ['policy: { originalContractEndTimestamp: 2028-01-02 }', 'got       2028-01-01'],
    ['newInvoices: [{}]', 'newInvoices (1 entry expected, 0 entries got)'],
    ['documents: { schedule.pdf: Ada }', "documents['schedule.pdf'] (the step creates no document)"],
    [
      'documents: [{ displayName: Schedule }]',
      'expected  ["{\\"displayName\\":\\"Schedule\\"}"]\n        got       []',
    ],
    ['refused: policyValidation', 'refused (the step succeeded)'],
  ])('do not hold: %s', async (expectation, shown) => {
    const { exit, out } = await outcome(`  ${expectation}`)
    expect(out).toContain(shown)
    expect(exit).toBe(1)
  })

  test.each([
    ['{}', "'renewalEndTimestamp' is missing; it must be a day such as '2027-01-31', or a time"],
    ['{ renewalEndTimestamp: soon }', "'renewalEndTimestamp' must be a day such as '2027-01-31', or a time"],
  ])('a time that is missing or wrong in %s names the forms of scenarios', async (body, message) => {
    const { root } = starterWith(`name: One${BICYCLE}steps:\n  - issue:\n  - renew: ${body}\n`)
    expect((await bindery('test', root)).out).toContain(message)
  })

  test('may name a refusal by its code and a part of its message', async () => {
    const text = BICYCLE.replace('kind: electric', 'kind: electrical')
    const { root } = starterWith(
      `${text}expect:\n  refused: { code: policyValidation, message: "electric" }\n`,
    )
    expect((await bindery('test', root)).exit).toBe(0)
    const other = starterWith(`${text}expect:\n  refused: wrongState\n`)
    expect((await bindery('test', other.root)).out).toContain(
      'expected  wrongState\n        got       policyValidation',
    )
  })

  test.each([
    ['schedule.pdf', true],
    ['Policy schedule', true],
    ['sched*', true],
    ['*.pdf', true],
    ['s*d*e.pdf', true],
    ['*le*', true],
    ['schedule', false],
    ['s*x*.pdf', false],
    ['schedule.pdf*schedule.pdf', false],
  ])('find a document by the name %s: %s', async (name, isFound) => {
    const { root } = starterWith(
      `${BICYCLE}steps:\n  - issue:\n    expect:\n      documents: { "${name}": Policy }\n`,
    )
    expect((await bindery('test', root)).exit).toBe(isFound ? 0 : 1)
  })

  test('fail when the template of a document fails, even if they do not mention the document', async () => {
    const { root } = starterWith(`${BICYCLE}steps:\n  - issue:\n`)
    change(
      join(root, 'configuration/products/starter_product/policy/schedule.template.liquid'),
      '</body>',
      '{{ 120 | divided_by: 0 }}</body>',
    )
    const { exit, out } = await bindery('test', root)
    expect(exit).toBe(1)
    expect(out).toContain('expected  ready\n        got       renderError')
    expect(out).toContain('schedule.template.liquid:18:10: Division by zero')
  })
})

describe('wrong scenario files', () => {
  test.each([
    ['policy: [1', '1:11', 'is not valid YAML here'],
    ['name: x\n', '1:1', 'has no policy'],
    ['policy: {}\nstep: []\n', '2:1', "'step' is not a known property. Did you mean 'steps'?"],
    [`${BICYCLE}steps:\n  - isue:\n`, '10:5', "'isue' is not a step. Did you mean 'issue'?"],
    [`${BICYCLE}steps:\n  - at: 2027-01-01\n`, '10:5', 'has no action'],
    [`${BICYCLE}steps:\n  - issue:\n    pay:\n`, '11:5', "'pay' is in the same step as 'issue'"],
    [`${BICYCLE}expect:\n  totl: 1\n`, '10:3', "'totl' cannot be expected. Did you mean 'total'?"],
    [`${BICYCLE}steps:\n  - issue:\n    of: 1\n`, '11:5', "'issue' acts on the policy. Omit 'of'."],
    [
      `${BICYCLE}given:\n  auxdata: {}\n`,
      '10:3',
      "'auxdata' is not a known property. Did you mean 'auxData'?",
    ],
    [BICYCLE.replace('exposureName', 'exposurName'), '6:7', "Did you mean 'exposureName'?"],
    [BICYCLE.replace('2027-01-01', 'tomorrow'), '2:1', 'The policy has no policyStartTimestamp'],
    [`at: soon${BICYCLE}`, '1:1', "'at' must be a day such as '2027-01-31'"],
    [
      `${BICYCLE}steps:\n  - issue:\n    at: 2026-12-01\n`,
      '11:5',
      'Time only moves forward: it is already 2027-01-01',
    ],
    [
      `${BICYCLE}steps:\n  - issue:\n  - endorse:\n      endorsementName: change_of_risk\n      updateExposures: [{ exposureLocator: car }]\n`,
      '13:27',
      "There is no exposure 'car' at this time; there are bicycle.",
    ],
    [`${BICYCLE}steps:\n  - reversePayment:\n`, '10:5', 'The policy has no payment to act on at this time.'],
    ['policy: nowhere.json\n', '1:1', "nowhere.json' cannot be read: there is no such file or folder."],
    ['policy: .\n', '1:1', "scenarios' cannot be read: it is a folder."],
    ['# Nothing yet.\n', '1:1', 'is empty. Write a policy, its steps'],
    ['bicycle\n', '1:1', 'is not a scenario. Write a policy, its steps'],
    ['name: a\n---\nname: b\n', '2:1', 'starts a second document. Write several scenarios as a list.'],
  ])('are reported with their place and what to do: %s', async (text, place, message) => {
    const { root, file } = starterWith(text)
    const { exit, out } = await bindery('test', root)
    expect(out).toContain(`${file}:${place}\n`)
    expect(out).toContain(message)
    expect(exit).toBe(1)
  })

  test('are reported as missing, with the folder that paths start from', async () => {
    const { root } = starterWith(BICYCLE)
    const { exit, err } = await bindery('test', root, 'scenarios/nowhere.yaml')
    expect(err).toContain(
      "There is no scenario file 'scenarios/nowhere.yaml'. Paths are relative to the current folder.",
    )
    expect(exit).toBe(2)
  })

  test('are rejected quickly if their aliases expand without limit or they nest too deeply', async () => {
    const names = [...'abcdefghij'].map((name, at, all) =>
      at === 0
        ? `a: &a [${'x,'.repeat(9)}x]`
        : `${name}: &${name} [${`*${all[at - 1]},`.repeat(9)}*${all[at - 1]}]`,
    )
    for (const text of [names.join('\n'), `policy: ${'['.repeat(20_000)}`]) {
      const { root, file } = starterWith(text)
      const { exit, out } = await bindery('test', root)
      expect(exit).toBe(1)
      expect(out).toContain(`${file}:1:`)
    }
  })

  test('lead to exit code 2 if there are none, or none matches --filter', async () => {
    const { root } = starterWith()
    expect(await bindery('test', root, '--filter', 'tricycle')).toMatchObject({
      exit: 2,
      err: "bindery: No scenario has 'tricycle' in its name or the name of its file.\n",
    })
    rmSync(join(root, 'scenarios'), { recursive: true })
    expect((await bindery('test', root)).err).toContain('There are no scenarios for')
    expect((await bindery('test', root, join(root, 'none.yaml'))).exit).toBe(2)
  })
})

describe('bindery test --update', () => {
  const TEXT = `# What a bicycle costs.
name: One   # of many
${BICYCLE.trim()}
expect:
  total: 300 # to be looked at
  taxGroups: { insurance_tax: 1.5, }

  # Nothing is written here yet.
  perils:
  fees:
steps:
  # Issued on the same day.
  - issue:
    expect: { state: 'lapsed', newInvoices: [] }
`

  test('writes actual values, and leaves every other character unchanged', async () => {
    const { root, file } = starterWith(TEXT)
    const { exit } = await bindery('test', root, '--update')
    expect(exit).toBe(1)
    expect(readFileSync(file, 'utf8')).toBe(
      TEXT.replace('total: 300 #', 'total: 281.55 #')
        .replace('insurance_tax: 1.5,', 'insurance_tax: 44.15,')
        .replace(
          '  perils:\n',
          '  perils:\n    - exposure: 0\n      peril: theft\n      premium: 173.60\n    - exposure: 0\n      peril: damage\n      premium: 58.80\n',
        )
        .replace('  fees:\n', '  fees:\n    policy_fee: 5.00\n')
        .replace("state: 'lapsed'", 'state: "issued"')
        .replace(
          'newInvoices: []',
          'newInvoices: [{"invoiceType":"newBusiness","dueTimestamp":"2027-01-01 23:59:59.999","startTimestamp":"2027-01-01","endTimestamp":"2028-01-01","createdTimestamp":"2027-01-01","totalDue":"281.55","settlementStatus":"outstanding","outstandingAmount":"281.55","payments":[]}]',
        ),
    )
    expect((await bindery('test', root)).exit).toBe(0)
    // Values that are already correct are not written again.
    const before = readFileSync(file, 'utf8')
    await bindery('test', root, '--update')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('writes JSON values in place, in their order', async () => {
    const scenario = {
      name: 'One',
      policy: {
        policyStartTimestamp: '2027-01-01',
        fieldValues: { channel: 'direct' },
        exposures: [
          {
            exposureName: 'bicycle',
            fieldValues: { kind: 'city', value: '1000', kept: 'cellar' },
            perils: [{ name: 'theft' }],
          },
        ],
      },
      expect: { total: '1.00', decision: null, grossPremium: 1 },
    }
    const { root, file } = starterWith(JSON.stringify(scenario, null, 4), 'one.json')
    await bindery('test', root, '--update')
    // 1,000 × 0.045, 19% of it, and 5 for the policy.
    expect(readFileSync(file, 'utf8')).toBe(
      JSON.stringify(
        { ...scenario, expect: { total: '58.55', decision: 'accept', grossPremium: 0 } },
        null,
        4,
      ).replace('"grossPremium": 0', '"grossPremium": 45.00'),
    )
    expect((await bindery('test', root)).exit).toBe(0)
  })

  test('leaves the expected text of a document to the author', async () => {
    const { root, file } = starterWith(
      `${BICYCLE}steps:\n  - issue:\n    expect:\n      documents:\n        schedule.pdf: Nobody\n`,
    )
    const before = readFileSync(file, 'utf8')
    const { err } = await bindery('test', root, '--update')
    expect(err).toContain('0 values written, 1 left for you')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })
})

describe('bindery test --junit', () => {
  test('writes a suite for each file and a case for each scenario', async () => {
    const { root } = starterWith()
    change(join(root, 'scenarios/underwriting.yaml'), 'grossPremium: 878.00', 'grossPremium: 1')
    const report = join(folder, 'report.xml')
    expect((await bindery('test', root, '--junit', report)).exit).toBe(1)
    const xml = readFileSync(report, 'utf8')
    expect(xml).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="bindery test" tests="3" failures="1"/,
    )
    expect(xml.match(/<testsuite /g)).toHaveLength(2)
    expect(xml.match(/<testcase /g)).toHaveLength(3)
    expect(xml).toContain('name="A bicycle of 8,000 is accepted"')
    expect(xml).toMatch(
      /<failure message="[^"]*underwriting.yaml:14:5: create: grossPremium">[^<]*expected {2}1\ngot {7}878.00<\/failure>/,
    )
  })

  test('escapes names and messages, and reports a file that cannot be read as a failure', async () => {
    const { root } = starterWith('name: "<&\\">"\npolicy: {}\nstep: 1\n')
    const report = join(folder, 'wrong.xml')
    await bindery('test', root, '--junit', report)
    const xml = readFileSync(report, 'utf8')
    expect(xml).toContain('tests="1" failures="1"')
    expect(xml).not.toMatch(/&(?!(?:amp|lt|gt|quot|#10);)/)
  })

  test('exits with 2 if the report cannot be written', async () => {
    expect(await bindery('test', 'cli/starter', '--junit', join(folder, 'no/such/place.xml'))).toMatchObject({
      exit: 2,
    })
    expect(existsSync(join(folder, 'no'))).toBe(false)
  })
})

describe('bindery test --watch', () => {
  test('runs again after a change of a table or scenario, until it is interrupted', async () => {
    const { root } = starterWith()
    const table = join(root, 'configuration/products/starter_product/policy/tables/theft_rate.csv')
    const life = join(root, 'scenarios/underwriting.yaml')
    const ends = new AbortController()
    const seen: string[] = []
    const heard = (text: string): void => {
      const [line] = /^.*(?:passed|failed) \(.*$/m.exec(text) ?? []
      if (line === undefined) return
      seen.push(line.replace(/ \(.*/, ''))
      if (seen.length === 1) change(table, 'race,0.071', 'race,0.072')
      if (seen.length === 2) change(life, 'grossPremium: 878.00', 'grossPremium: 888.00')
      if (seen.length === 3) ends.abort()
    }
    const { exit } = await binderyWith({ heard, interrupted: ends.signal }, 'test', root, '--watch')
    expect(seen).toEqual(['3 passed', '1 failed, 2 passed', '3 passed'])
    expect(exit).toBe(0)
  })

  test('cannot be combined with --update', async () => {
    expect((await bindery('test', 'cli/starter', '--watch', '--update')).exit).toBe(2)
  })
})
