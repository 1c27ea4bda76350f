// Policies, exposures and perils in force at a time, and sums of their fields.
import { invalidRequest } from '../../kernel/errors.ts'
import { shardOfDigits } from '../../kernel/locators.ts'
import { type Decimal, decimal, money } from '../../kernel/money.ts'
import { didYouMean } from '../../kernel/text.ts'
import { containsTime, type Instant, LATEST, type Span } from '../../kernel/time.ts'
import { type Line, lineOf, segmentsInForce } from '../../policy/fold/line.ts'
import {
  exposurePieces,
  piecesInForce as inForcePieces,
  isInForceAt,
  piecesOf,
} from '../../policy/fold/pieces.ts'
import {
  boundQuote,
  type ExposureRun,
  type PolicyAggregate,
  type PolicySegment,
} from '../../policy/records/aggregate.ts'
import { numericFields } from '../../product/books.ts'
import type { Configuration } from '../../product/configuration.ts'
import type { Column, ReportKind } from '../kind.ts'

export type CoverInForce = {
  readonly segment: PolicySegment
  readonly exposures: readonly {
    readonly name: string
    readonly locator: string
    readonly run: ExposureRun
  }[]
  readonly perils: readonly {
    readonly name: string
    readonly exposureLocator: string
    /** In minor units: for the term, and for a year at the rate in force. */
    readonly premium: number
    readonly annual: number
  }[]
}

/** Returns the span from the start of the policy or its last renewal to the next renewal. */
function termAt(line: Line, at: Instant): Span {
  const starts = line
    .filter(({ modification: { kind } }) => kind === 'creation' || kind === 'renewal')
    .flatMap(({ made }) => made.map(({ start }) => start).slice(0, 1))
  const start = starts.findLast(one => one <= at) ?? starts[0] ?? at
  return { start, end: starts.find(one => one > start) ?? LATEST }
}

/** Returns the cover of the policy at a time. Undefined if it has none. */
export function coverAt(records: PolicyAggregate, at: Instant): CoverInForce | undefined {
  if (records.policy.issuedAt === undefined) return undefined
  const line = lineOf(records, boundQuote(records))
  const segment = segmentsInForce(line).find(one => containsTime(one, at))
  if (!segment) return undefined
  const order = new Map(line.map(({ modification }, place) => [modification.locator, place]))
  const shard = shardOfDigits(records.policy.locator)
  const exposures = [...records.exposureRuns.values()]
    .filter(run => order.has(run.madeBy))
    .filter(run =>
      exposurePieces(run, order, shard).some(piece => isInForceAt(piece, at, line.length - 1, order)),
    )
    .map(run => ({
      name: records.exposures.get(run.exposureLocator)?.name ?? '',
      locator: run.exposureLocator,
      run,
    }))
  const { timeZone, currency } = records.policy
  const term = termAt(line, at)
  const runs = [...records.perilRuns.values()]
    .filter(run => run.price && order.has(run.madeBy))
    .map(run => ({ run, pieces: inForcePieces(piecesOf(run, line, timeZone)) }))
  const perils = [...Map.groupBy(runs, ({ run }) => run.perilLocator)].flatMap(([locator, own]) => {
    const current = own.find(({ pieces }) => pieces.some(piece => containsTime(piece, at)))
    if (!current) return []
    const { name, exposureLocator } = records.perils.get(locator)!
    const ofTerm = own.flatMap(({ pieces }) => pieces.filter(piece => containsTime(term, piece.start)))
    const premium = ofTerm.reduce((sum, { amounts }) => sum + (amounts?.premium.minor ?? 0), 0)
    const annual = money(decimal(current.run.price!.premium.month).times(12), currency).minor
    return [{ name, exposureLocator, premium, annual }]
  })
  return { segment, exposures, perils }
}

/** Rejects with 400 a name that is not a numeric field of an exposure. */
function requireNumeric(names: readonly string[], configuration: Configuration): void {
  const known = numericFields(configuration)
  const wrong = names.find(name => !known.includes(name))
  if (wrong !== undefined)
    throw invalidRequest(
      `'${wrong.slice(0, 100)}' is not a numeric field of an exposure.${didYouMean(wrong, known)} Use one of: ${known.join(', ') || 'none'}.`,
    )
}

/** Returns the sum of a numeric field over the exposures. Ignores values that are not numbers. */
export function sumOfField({ exposures }: CoverInForce, name: string): Decimal {
  const [exposure, field = ''] = name.split('.')
  return exposures
    .filter(one => one.name === exposure)
    .flatMap(({ run }) => run.data.values[field] ?? [])
    .filter(value => /^-?\d{1,30}(\.\d{1,30})?$/.test(value))
    .reduce((sum, value) => sum.plus(decimal(value)), decimal(0))
}

const count = (name: string, about: string): Column => ({ name, type: 'integer', about, isMeasure: true })
const amount = (name: string, about: string): Column => ({ name, type: 'amount', about, isMeasure: true })

export const inForce: ReportKind = {
  name: 'inForce',
  title: 'In force',
  about: 'Policies with cover at a given time, with their exposures, perils and premium.',
  takes: ['at', 'sums'],
  dimensions: ['peril'],
  usual: ['product'],
  needs: () => ({ records: true }),
  columns({ sums, by }, { configuration }) {
    requireNumeric(sums, configuration)
    if (sums.length > 0 && by.includes('peril'))
      throw invalidRequest(`'sums' add up fields of exposures, so they cannot be grouped by peril.`)
    return [
      { name: 'coverStart', type: 'time', about: 'The start of the segment in force.' },
      { name: 'coverEnd', type: 'time', about: 'The end of the segment in force.' },
      count('policies', 'Policies.'),
      count('exposures', 'Exposures.'),
      count('perils', 'Perils.'),
      amount('premium', 'Premium of the perils in force, for the whole term.'),
      amount('annualPremium', 'Annual premium: 12 times their monthly rates.'),
      ...sums.map(
        (name): Column => ({
          name,
          type: 'number',
          about: 'Sum over the exposures in force.',
          isMeasure: true,
        }),
      ),
    ]
  },
  *lines({ policy, records }, { at, by, sums }) {
    const held = policy && records && coverAt(records, at)
    if (!held) return
    const { segment, exposures, perils } = held
    const line = { currency: policy.currency, data: segment.data, booked: at }
    const total = (of: typeof perils, part: 'premium' | 'annual'): number =>
      of.reduce((sum, one) => sum + one[part], 0)
    const cells = (of: typeof perils, exposureCount: number) => [
      segment.start,
      segment.end,
      1,
      exposureCount,
      of.length,
      total(of, 'premium'),
      total(of, 'annual'),
    ]
    if (!by.includes('peril'))
      yield {
        ...line,
        cells: [...cells(perils, exposures.length), ...sums.map(name => sumOfField(held, name).toFixed())],
      }
    else
      for (const [peril, own] of Map.groupBy(perils, one => one.name))
        yield {
          ...line,
          cells: cells(own, new Set(own.map(one => one.exposureLocator)).size),
          own: { peril },
        }
  },
}
