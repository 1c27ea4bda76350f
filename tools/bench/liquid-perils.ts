// Measures the overhead of rating by templates over the templates' own time. A policy of 1,000 exposures with 5 perils each is
// priced as the service prices it, and the same templates are rendered as often by the bare library. Both run in this process,
// without a service, because neither calls the platform.
import { zipSync } from 'fflate'
import { Liquid, type Template } from 'liquidjs'
import { draftOffline } from '../../cli/offline/price.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { priceQuote } from '../../src/rating/rate.ts'
import { type Files, motorFiles } from './example-tenant.ts'
import { median } from './figures.ts'

export const LIQUID_GOAL = 1.3

const EXPOSURES = 1_000
const WARM_UP_ROUNDS = 3
const POLICY = 'products/private_motor/policy'
const PERILS_FOLDER = `${POLICY}/exposures/vehicle/perils`
const PERILS = ['liability', 'own_damage', 'theft', 'glass', 'contents'] as const

export type LiquidPerils = {
  perils: number
  /** Median CPU milliseconds to price the policy, and to render as many templates with the bare library. */
  pricedMs: number
  bareMs: number
  ratios: number[]
  ratio: number
}

/** The motor example with a fifth peril for vehicles, without taxes and fees, so that each peril is one rendering. */
function files(): Files {
  const all = motorFiles()
  const text = new TextDecoder().decode(all[`${PERILS_FOLDER}/glass.json`])
  const contents = text.replaceAll('glass', 'contents').replaceAll('Glass', 'Contents')
  return {
    ...all,
    [`${PERILS_FOLDER}/contents.json`]: new TextEncoder().encode(contents),
    [`${PERILS_FOLDER}/contents.premium.liquid`]: all[`${PERILS_FOLDER}/glass.premium.liquid`]!,
  }
}

async function configurationOf(all: Files): Promise<Configuration> {
  await loadPatternEngine()
  const compilers = { compileLiquid: compileTemplate, compileScript }
  const archive = readArchive(new Uint8Array(zipSync(all)))
  const { configuration, findings } = compileConfiguration(archive.files, compilers)
  if (!configuration) throw new Error(JSON.stringify(findings))
  const product = configuration.products.private_motor!
  const { calculations: _, ...rated } = product
  return {
    ...configuration,
    products: { private_motor: { ...rated, taxes: [], fees: [], plugins: {} } },
  } as Configuration
}

/** Returns the bare library with minimal versions of the product's own filters, and the premium that was set last. */
function bareEngine(all: Files) {
  const engine = new Liquid()
  const set = { premium: 0 }
  const rows = Object.fromEntries(
    Object.entries(all)
      .filter(([path]) => path.endsWith('.csv'))
      .map(([path, bytes]) => {
        const lines = new TextDecoder().decode(bytes).trim().split('\n')
        return [path.split('/').at(-1)!.replace('.csv', ''), new Map(lines.map(line => splitOnce(line)))]
      }),
  )
  engine.registerFilter('lookup', (table: string, key: unknown) => rows[table]?.get(String(key)) ?? '')
  engine.registerFilter('set_year_premium', (amount: unknown) => {
    set.premium = Number(amount)
    return ''
  })
  engine.registerFilter('set_month_premium', (amount: unknown) => {
    set.premium = Number(amount) * 12
    return ''
  })
  for (const name of [
    'set_year_technical_premium',
    'set_month_technical_premium',
    'add_year_commission',
    'add_month_commission',
  ])
    engine.registerFilter(name, () => '')
  engine.registerFilter('timestamp_millis_add', (at: unknown, _: string, years: number) => {
    const date = new Date(String(at))
    date.setUTCFullYear(date.getUTCFullYear() + years)
    return date.getTime()
  })
  return { engine, set }
}

const splitOnce = (line: string): [string, string] => {
  const [key = '', value = ''] = line.split(',')
  return [key, value]
}

type Vehicle = { fieldValues: Record<string, unknown> }

/** The data that the templates read, as plain values. */
function bareData(policy: Record<string, unknown>) {
  const { full_name, birth_date } = { full_name: 'Greta Lindner', birth_date: '1985-06-15' }
  const [vehicle] = policy.exposures as Vehicle[]
  const numbers = (values: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const number = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
        return [name, Number.isNaN(number) ? value : number]
      }),
    )
  return {
    policy_characteristics: {
      start_timestamp: Number(policy.policyStartTimestamp),
      field_values: { ...numbers(policy.fieldValues as Record<string, unknown>), named_drivers: ['driver'] },
      field_groups_by_locator: { driver: { full_name, birth_date } },
    },
    exposure_characteristics: { field_values: numbers(vehicle!.fieldValues) },
    peril_characteristics: { field_values: {} },
  }
}

const cpuMs = async (work: () => unknown): Promise<number> => {
  const begun = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}

/** Measures both alternately, after some rounds that do not count. */
export async function measureLiquidPerils(rounds: number): Promise<LiquidPerils> {
  const all = files()
  const configuration = await configurationOf(all)
  const { policy, policyholder } = workedPolicies()[0]!.request
  const [vehicle] = policy.exposures as Vehicle[]
  const exposure = { ...vehicle!, perils: PERILS.map(name => ({ name })) }
  const asked = {
    name: undefined,
    policy: { ...policy, exposures: Array(EXPOSURES).fill(exposure) },
    values: policyholder.values,
  }
  const { draft, quote, rating } = await draftOffline(configuration, asked)

  const { engine, set } = bareEngine(all)
  const templates = PERILS.map((name): Template[] =>
    engine.parse(new TextDecoder().decode(all[`${PERILS_FOLDER}/${name}.premium.liquid`])),
  )
  const render = (): number => {
    let premium = 0
    for (let at = 0; at < EXPOSURES; at += 1) {
      const data = bareData(policy)
      for (const template of templates) {
        engine.renderSync(template, { data })
        premium += Math.round(set.premium * 100)
      }
    }
    return premium
  }

  let priced = draft
  const pairs: { priced: number; bare: number }[] = []
  let bare = 0
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1) {
    const service = await cpuMs(async () => {
      priced = await priceQuote(draft, quote, rating)
    })
    const library = await cpuMs(() => {
      bare = render()
    })
    if (round >= WARM_UP_ROUNDS) pairs.push({ priced: service, bare: library })
  }
  const premium = [...priced.perilRuns.values()].reduce(
    (sum, run) => sum + run.price!.premium.amount.minor,
    0,
  )
  if (premium !== bare)
    throw new Error(`The premium of the policy is ${premium}, but with the bare library ${bare}.`)
  const ratios = pairs.map(pair => pair.priced / pair.bare)
  return {
    perils: EXPOSURES * PERILS.length,
    pricedMs: median(pairs.map(pair => pair.priced)),
    bareMs: median(pairs.map(pair => pair.bare)),
    ratios,
    ratio: median(ratios),
  }
}
