// The motor example priced by its templates and by its plugins, for random vehicles.
import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginProgram, workerCode } from '../../src/bundles/sandbox.bundle.mjs'
import { AttemptCalls } from '../../src/extension/plugins/attempt-calls.ts'
import { isolateRunner } from '../../src/extension/plugins/runners/isolate.ts'
import type { Packed } from '../../src/extension/plugins/runners/packing.ts'
import type { PluginRunner } from '../../src/extension/plugins/runners/runner.ts'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { locatorSupply, newUuid } from '../../src/kernel/locators.ts'
import { toText, zero } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { changePolicyholderValues } from '../../src/policyholders/values.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { decideCreation } from '../../src/transactions/new-business/decision.ts'
import { type ArchiveFiles, exampleFiles } from '../support/examples.ts'
import { plainYear } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'
import { size } from '../support/sizes.ts'
import { nothingKnown, RUNNERS } from './programs.ts'

const NOW = Date.UTC(2026, 10, 21, 12) as Instant
const SEED = 20261121

await loadPatternEngine()

function groundOf(files: ArchiveFiles): NewPolicyContext {
  const archive = Object.entries(files).map(([path, content]) => {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    const text = () => new TextDecoder().decode(bytes)
    return { path, sizeBytes: bytes.length, bytes: () => bytes, text }
  })
  const { configuration, findings } = compileConfiguration(archive, {
    compileLiquid: compileTemplate,
    compileScript,
  })
  if (!configuration) throw new Error(JSON.stringify(findings))
  const { timeZone, currency, policyholderFields, products } = configuration
  const { values } = changePolicyholderValues(
    policyholderFields,
    {},
    plainYear().request.policyholder.values,
    { completed: true, timeZone, now: NOW },
  )
  return {
    policyholder: {
      locator: newUuid(0),
      version: 1,
      completed: true,
      accountLocator: newUuid(0),
      entity: { locator: newUuid(0), values, subEntities: [] },
      createdAt: NOW,
      updatedAt: NOW,
    },
    configuration: loadedConfiguration(configuration, `premiums-${Math.random()}`, compileTemplate),
    configVersion: 1,
    credit: zero(currency),
    timeZone,
    currency,
    product: products.private_motor!,
  }
}

let sequence = 3_000_000

async function priced(
  ground: NewPolicyContext,
  request: object,
  runner?: PluginRunner,
): Promise<PolicyAggregate> {
  const supply = () =>
    locatorSupply(
      0,
      Array.from({ length: 7_000 }, () => sequence++ * 64),
    )
  const tenant = { locator: newUuid(0), generation: 1 } as never
  const sandbox = runner && { runner, programOf: pluginProgram }
  const { aggregate } = await decideCreation(
    PolicyCreateRequest.parse({ ...request, policyholderLocator: ground.policyholder.locator }),
    ground,
    {
      now: NOW,
      supply: supply(),
      digits: async () => supply(),
      plugins:
        sandbox &&
        new AttemptCalls(
          async () => sandbox,
          { tenant, now: NOW },
          async () => nothingKnown(),
        ),
    },
  )
  return aggregate
}

const figures = (aggregate: PolicyAggregate) =>
  [...aggregate.perilRuns.values()].map(({ perilLocator, price }) => [
    aggregate.perils.get(perilLocator)!.name,
    toText(price!.premium.amount),
    price!.premium.month,
    toText(price!.technicalPremium!.amount),
    price!.commissions.map(one => [one.recipient, one.month, toText(one.amount)]),
    price!.taxes.map(tax => [tax.name, toText(tax.amount)]),
  ])

const { policy: PLAIN } = plainYear().request
const CHOICES = {
  usage: ['private', 'commuting', 'commercial'],
} as const

const vehicle = fc.record({
  usage: fc.constantFrom(...CHOICES.usage),
  parking: fc.constantFrom('garage', 'street'),
  vehicle_value: fc.integer({ min: 1_000, max: 150_000 }),
  annual_mileage_km: fc.constantFrom(5_000, 9_000, 9_001, 15_000, 15_001, 25_000, 25_001, 60_000),
  deductible: fc.constantFrom(0, 150, 300, 500, 1000),
  original_parts: fc.constantFrom('yes', 'no'),
})

const policy = fc.record({
  channel: fc.constantFrom('direct', 'broker', 'comparison_portal'),
  region_class: fc.constantFrom('R1', 'R2', 'R3', 'R4', 'R5', 'R6'),
  claims_free_years: fc.integer({ min: 0, max: 35 }),
  days: fc.integer({ min: 20, max: 700 }),
  // Around the 25th birthday of the insured person.
  birthday: fc.integer({ min: -9_500, max: -8_900 }),
})

const DAY = 86_400_000

describe.each(RUNNERS)('rated under %s', (_name, runner) => {
  const many = size(300, 1_000)
  it(`a plugin and templates price ${many} vehicles the same, to the cent`, async () => {
    const byTemplates = groundOf(exampleFiles('motor'))
    const byPlugins = groundOf(pluginRated())
    const PER_POLICY = 50
    const cases = fc.sample(
      fc.tuple(policy, fc.array(vehicle, { minLength: PER_POLICY, maxLength: PER_POLICY })),
      { numRuns: many / PER_POLICY, seed: SEED },
    )
    let compared = 0
    for (const [terms, vehicles] of cases) {
      const start = PLAIN.policyStartTimestamp
      const [plain] = PLAIN.exposures
      const request = {
        ...PLAIN,
        policyEndTimestamp: start + terms.days * DAY,
        fieldValues: {
          ...PLAIN.fieldValues,
          channel: terms.channel,
          ...(terms.channel === 'broker' && { broker_code: 'BRK-1234' }),
          region_class: terms.region_class,
          claims_free_years: terms.claims_free_years,
        },
        fieldGroups: [
          {
            fieldName: 'named_drivers',
            fieldValues: {
              full_name: 'Kim Young',
              birth_date: new Date(start + terms.birthday * DAY).toISOString().slice(0, 10),
              licence_withdrawn: 'no',
            },
          },
        ],
        exposures: vehicles.map(({ deductible, original_parts, ...fields }) => ({
          exposureName: 'vehicle',
          fieldValues: { ...plain!.fieldValues, ...fields },
          perils: [
            { name: 'liability' },
            { name: 'own_damage', deductible },
            { name: 'theft' },
            { name: 'glass', fieldValues: { original_parts } },
          ],
        })),
        finalize: true,
      }
      const [one, other] = [await priced(byTemplates, request), await priced(byPlugins, request, runner)]
      expect(figures(other)).toEqual(figures(one))
      compared += one.perilRuns.size
    }
    expect(compared).toBe(many * 4)
  })
})

it('5,000 perils are rated in one call into the sandbox, which is sent 1.2 MB instead of 11 MB of JSON', async () => {
  const perils = 'products/private_motor/policy/exposures/vehicle/perils'
  const example = exampleFiles('motor')
  const fifth = { name: 'assistance', displayName: 'Assistance', fields: [] }
  const ground = groundOf(
    pluginRated(
      ['getPerilRates'],
      {
        'main/rater.js':
          "exports.getPerilRates = data => { const rates = {}; for (const one of data.policyExposurePerils) rates[one.perilCharacteristicsLocator] = { yearlyPremium: '12' }; return { pricedPerilCharacteristics: rates } }",
      },
      {
        ...example,
        [`${perils}/assistance.json`]: JSON.stringify(fifth),
        [`${perils}/assistance.premium.liquid`]: example[`${perils}/glass.premium.liquid`]!,
      },
    ),
  )
  const sent: number[] = []
  const isolate = isolateRunner(countingLoader(sent), workerCode)
  const asJson: number[] = []
  const counting: PluginRunner = {
    run: (program, call) => {
      asJson.push(JSON.stringify(call).length)
      return isolate.run(program, call)
    },
  }
  const [plain] = PLAIN.exposures
  const names = ['liability', 'own_damage', 'theft', 'glass', 'assistance']
  const exposures = Array.from({ length: 1_000 }, () => ({ ...plain, perils: names.map(name => ({ name })) }))
  const aggregate = await priced(ground, { ...PLAIN, exposures, finalize: true }, counting)
  expect(aggregate.perilRuns.size).toBe(5_000)
  expect([...aggregate.perilRuns.values()].every(run => run.price?.premium.month === '1')).toBe(true)
  expect(asJson).toHaveLength(1)
  expect(sent).toHaveLength(1)
  expect(asJson[0]).toBeGreaterThan(11_000_000)
  expect(sent[0]).toBeLessThan(1_200_000)
})

/** Returns the loader of isolates, noting how many bytes each call sends. */
function countingLoader(sent: number[]): WorkerLoader {
  type Entrypoint = { run(call: string, packed: Packed): Promise<unknown> }
  const loader = {
    get(name: string, code: () => WorkerLoaderWorkerCode) {
      const entrypoint = env.LOADER.get(name, code).getEntrypoint() as unknown as Entrypoint
      const run: Entrypoint['run'] = (call, packed) => {
        const { data, ...others } = packed
        sent.push(data.byteLength + new TextEncoder().encode(call + JSON.stringify(others)).length)
        return entrypoint.run(call, packed)
      }
      return { getEntrypoint: () => ({ run }) }
    },
  }
  return loader as unknown as WorkerLoader
}
