// Rates random policies and sorts their problems: each kind of problem with the smallest policy that shows it.
import { Refusal } from '../../src/kernel/errors.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { Configuration, LookupTable, ProductDefinition } from '../../src/product/configuration.ts'
import { isLookupTable, tableOf } from '../../src/product/configuration.ts'
import { type Priced, pricedOffline } from '../offline/price.ts'
import { yieldToSignals } from '../terminal.ts'
import { type Base, type MadeCase, randomCase } from './policies.ts'
import { randomOfCase } from './random.ts'
import { smallestCase } from './shrink.ts'

export type ProblemKind = 'refused' | 'invalid' | 'zero' | 'negative' | 'notANumber'

/** One problem of a policy. Problems with the same `key` are the same mistake. */
export type Wrong = {
  readonly kind: ProblemKind
  readonly key: string
  /** Where it is: a script and line, or exposure and peril. */
  readonly what: string
  readonly message: string
}

export type Problem = Wrong & {
  readonly policies: number
  /** The smallest policy found that shows it. The other properties describe that policy's problem. */
  readonly smallest: MadeCase
}

export type TrialReport = {
  readonly productName: string
  readonly seed: number
  readonly count: number
  /** The number of policies that were priced. */
  readonly priced: number
  readonly decisions: Readonly<Record<string, number>>
  /** The minimum, median and maximum of their totals. Absent if none was priced. */
  readonly totals?: { readonly least: number; readonly median: number; readonly greatest: number }
  readonly problems: readonly Problem[]
  readonly rows: readonly {
    readonly path: string
    readonly total: number
    readonly unreached: readonly string[]
  }[]
  /** Mandatory fields for which no value could be generated. */
  readonly unmade: readonly string[]
  readonly notes: readonly string[]
}

export type TrialOptions = {
  readonly count: number
  readonly seed: number
  readonly now: Instant
  readonly base: Base
  /** Receives the number of policies rated so far. */
  progress?(done: number): void
  readonly interrupted: AbortSignal
}

/** Of further kinds, the report only says that there are some. */
const MOST_KINDS = 50

const OTHER_KINDS = `There are problems of other kinds than the ${MOST_KINDS} below. Fix these, and try again.`

export async function tryProduct(
  configuration: Configuration,
  product: ProductDefinition,
  { count, seed, now, base, progress, interrupted }: TrialOptions,
): Promise<TrialReport> {
  const unmade = new Map<string, string>()
  const reached = new Map<string, Set<string>>()
  const watchLookup = (_: string, table: string, key: string): void => {
    const keys = reached.get(table) ?? new Set()
    keys.add(key)
    reached.set(table, keys)
  }
  const rate = (one: MadeCase, watch?: typeof watchLookup) =>
    pricedOffline(configuration, { name: undefined, ...one }, undefined, {
      now,
      ...(watch && { watchLookup: watch }),
    })
  const found = new Map<string, { wrong: Wrong; first: MadeCase; policies: number }>()
  const decisions: Record<string, number> = { accept: 0, none: 0, reject: 0 }
  const totals: number[] = []
  const notes = new Set<string>()
  let done = 0
  for (; done < count && !interrupted.aborted; done += 1) {
    const one = randomCase(randomOfCase(seed, done), {
      configuration,
      product,
      now,
      base,
      unmade: (field, why) => unmade.set(field, why),
    })
    const outcome = await outcomeOf(() => rate(one, watchLookup))
    if (outcome.priced) {
      const { decision } = outcome.priced.underwriting
      decisions[decision] = (decisions[decision] ?? 0) + 1
      totals.push(outcome.priced.price.total)
      for (const note of outcome.priced.notes) notes.add(note)
    }
    for (const wrong of outcome.wrongs) {
      const known = found.get(wrong.key)
      if (known) known.policies += 1
      else if (found.size < MOST_KINDS) found.set(wrong.key, { wrong, first: one, policies: 1 })
      else notes.add(OTHER_KINDS)
    }
    progress?.(done + 1)
    await yieldToSignals()
  }
  const problems: Problem[] = []
  for (const { wrong, first, policies } of found.values()) {
    const shows = async (one: MadeCase): Promise<boolean> =>
      (await outcomeOf(() => rate(one))).wrongs.some(other => other.key === wrong.key)
    const smallest = await smallestCase(first, shows, { configuration, product, now, base, interrupted })
    const shown = (await outcomeOf(() => rate(smallest))).wrongs.find(other => other.key === wrong.key)
    problems.push({ ...(shown ?? wrong), policies, smallest })
  }
  totals.sort((a, b) => a - b)
  return {
    productName: product.name,
    seed,
    count: done,
    priced: totals.length,
    decisions,
    ...(totals.length > 0 && {
      totals: { least: totals[0]!, median: totals[totals.length >> 1]!, greatest: totals.at(-1)! },
    }),
    problems: problems.sort(
      (a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || b.policies - a.policies,
    ),
    rows: tablesOf(configuration, product).map(([name, table]) => unreachedRows(table, reached.get(name))),
    unmade: [...unmade].map(([field, why]) => `'${field}': ${why}`),
    notes: [...notes],
  }
}

const ORDER: readonly ProblemKind[] = ['refused', 'notANumber', 'zero', 'negative', 'invalid']

type Outcome = { readonly priced?: Priced; readonly wrongs: readonly Wrong[] }

async function outcomeOf(rate: () => Promise<Priced>): Promise<Outcome> {
  try {
    const priced = await rate()
    return { priced, wrongs: priceProblems(priced) }
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    return { wrongs: [refusalOf(problem)] }
  }
}

/** Codes about field values: the generated policy is wrong, or no policy can be right. */
const CONTENT = new Set(['policyValidation', 'invalidRequest', 'policyLimit'])

function refusalOf({ code, message, details }: Refusal): Wrong {
  const kind = CONTENT.has(code) ? 'invalid' : 'refused'
  const [place = code] = /^\S+\.(?:liquid|vm|velocity|js|mjs|cjs)(?::\d+)*/.exec(message) ?? []
  const text = kind === 'invalid' ? `${message} ${JSON.stringify(details ?? {})}` : message
  // The same mistake with other values is the same mistake.
  const alike = text
    .replaceAll(/'[^']*'/g, "'…'")
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/(?<![:\w])-?\d[\d.,]*/g, '#')
  return { kind, key: `${kind} ${code} ${alike}`, what: place, message: `${code}: ${text}` }
}

function priceProblems({ price }: Priced): Wrong[] {
  const wrongs = price.exposurePrices.flatMap(({ name: exposure, perilPrices }) =>
    perilPrices.flatMap(({ name: peril, premium }): Wrong[] => {
      const what = `${exposure}.${peril}`
      if (!Number.isFinite(premium))
        return [{ kind: 'notANumber', key: `notANumber ${what}`, what, message: `the premium is ${premium}` }]
      if (premium === 0) return [{ kind: 'zero', key: `zero ${what}`, what, message: 'the premium is 0' }]
      if (premium < 0)
        return [{ kind: 'negative', key: `negative ${what}`, what, message: `the premium is ${premium}` }]
      return []
    }),
  )
  // Two perils of the same name in one policy count once.
  return [...new Map(wrongs.map(wrong => [wrong.key, wrong])).values()]
}

function tablesOf(configuration: Configuration, product: ProductDefinition): [string, LookupTable][] {
  const names = new Set([...Object.keys(product.tables), ...Object.keys(configuration.tables)])
  return [...names].flatMap((name): [string, LookupTable][] => {
    const table = tableOf(configuration, product, name)
    return table && isLookupTable(table.columns) ? [[name, table]] : []
  })
}

function unreachedRows({ path, columns, rows }: LookupTable, reached: ReadonlySet<string> | undefined) {
  const key = columns.indexOf('key')
  const keys = [...new Set(rows.map(row => row[key]!))]
  return { path, total: keys.length, unreached: keys.filter(one => !reached?.has(one)) }
}
