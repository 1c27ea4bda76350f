import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Priced } from '../../cli/offline/price.ts'
import { workedPolicies } from '../support/configurations.ts'
import { bindery } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-price-'))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (name: string, content: unknown): string => {
  const file = join(folder, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const linesOf = (out: string): Priced[] =>
  out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

const figures = ({ price, underwriting }: Priced) => ({
  decision: underwriting.decision,
  notes: underwriting.notes,
  grossPremium: price.grossPremium.toFixed(2),
  grossTaxes: price.grossTaxes.toFixed(2),
  grossFees: price.grossFees.toFixed(2),
  grossCommissions: price.grossCommissions.toFixed(2),
  total: price.total.toFixed(2),
  premiums: price.exposurePrices.flatMap(one => one.perilPrices.map(peril => peril.premium.toFixed(2))),
})

const [plainYear] = workedPolicies('motor')

/** Returns a copy of the motor example with its plugins enabled. */
function withPlugins(): string {
  const copy = join(folder, 'plugins')
  cpSync('examples/motor/configuration', copy, { recursive: true })
  const file = join(copy, 'products/private_motor/policy/policy.json')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"enabled": false', '"enabled": true'))
  return copy
}

describe('bindery price', () => {
  test.each(['motor', 'home'] as const)(
    'prints the amounts that the README of examples/%s works out by hand',
    async example => {
      const { exit, out } = await bindery(
        ...['price', `examples/${example}`, '--json'],
        ...['--policy', `examples/${example}/worked.json`],
      )
      expect(exit).toBe(0)
      const expected = workedPolicies(example).map(({ expected: one }) => ({
        decision: one.decision,
        notes: one.notes,
        grossPremium: one.grossPremium,
        grossTaxes: one.grossTaxes,
        grossFees: one.grossFees,
        grossCommissions: one.grossCommissions,
        total: one.total,
        premiums: one.perils.map(({ premium }) => premium),
      }))
      expect(linesOf(out).map(figures)).toEqual(expected)
    },
  )

  test('runs plugins in the sandbox, with the same result as the templates', async () => {
    const { exit, out } = await bindery(
      ...['price', withPlugins(), '--json', '--policy', 'examples/motor/worked.json'],
    )
    expect(exit).toBe(0)
    expect(linesOf(out).map(figures)).toEqual(
      workedPolicies('motor').map(({ expected: { perils, ...one } }) =>
        expect.objectContaining({
          decision: one.decision,
          total: one.total,
          premiums: perils.map(({ premium }) => premium),
        }),
      ),
    )
  })

  test('stops a plugin that would never end, and reports the limit', async () => {
    // It takes few steps, because the engine itself searches the list.
    vi.stubEnv('PLUGIN_CALL_MS', '1000')
    const copy = withPlugins()
    const loop = 'exports.getPerilRates = () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'
    writeFileSync(join(copy, 'scripts/main/rater.js'), loop)
    const { exit, out, err } = await bindery(
      'price',
      copy,
      '--policy',
      write('plain.json', plainYear!.request),
    )
    expect(exit).not.toBe(0)
    vi.unstubAllEnvs()
    expect(out + err).toContain('Plugin getPerilRates failed: main/rater.js: takes longer than 1 second')
  })

  test('prints the premium by exposure and peril, taxes, fees, the total and the decision', async () => {
    const file = write('plain.json', plainYear!.request)
    const { out } = await bindery('price', 'examples/motor', '--policy', file)
    expect(out).toBe(`private_motor, 2027-01-01 to 2028-01-01, EUR

vehicle                                                 671.17
  liability                                             120.84
  own_damage                                            453.25
  theft                                                  50.28
  glass                                                  46.80
premium                                                 671.17
  tax insurance_tax                                     127.52
  fee policy_fee                                         12.50
total                                                   811.19

underwriting: accept
`)
  })

  test('rejects values that the product does not accept, as the service does', async () => {
    const { policy } = plainYear!.request
    const file = write('wrong.json', {
      ...policy,
      fieldValues: { ...policy.fieldValues, region_class: 'R9' },
    })
    const { exit, err } = await bindery('price', 'examples/motor', '--policy', file)
    expect(err).toContain('policyValidation')
    expect(err).toContain('region_class')
    expect(exit).toBe(1)
  })

  test('reports invalid JSON with its line, and other JSON with what it should be', async () => {
    const broken = write('broken.json', '{\n  "productName": private_motor\n}')
    expect((await bindery('price', 'examples/motor', '--policy', broken)).err).toContain(
      `${broken}:2:18: Expected a value here`,
    )
    const { exit, err } = await bindery('price', 'examples/motor', '--policy', write('list.json', ['x']))
    expect(err).toContain('It must be the body of POST /policy, or an object')
    expect(exit).toBe(1)
  })

  test('reports an empty list, and ignores a byte-order mark', async () => {
    const none = write('none.json', [])
    expect(await bindery('price', 'examples/motor', '--policy', none)).toEqual({
      exit: 1,
      out: '',
      err: `bindery: ${none} is a list without policies.\n`,
    })
    const marked = write('marked.json', `\uFEFF${JSON.stringify(plainYear!.request)}`)
    expect((await bindery('price', 'examples/motor', '--policy', marked)).exit).toBe(0)
  })

  test('reports what a plugin asked for and only a service has', async () => {
    const copy = withPlugins()
    const script = join(copy, 'scripts/main/underwriter.js')
    const source = readFileSync(script, 'utf8')
    writeFileSync(
      script,
      source.replace(
        'const notes = []',
        "const notes = []\n  notes.push(String(socotraApi.getAuxData(data.policy.locator, 'score')))",
      ),
    )
    const { out } = await bindery('price', copy, '--policy', write('plain.json', plainYear!.request))
    expect(out).toContain(
      "A plugin requested auxiliary data 'score', which is not available without a service.",
    )
  })
})
