// The worksheet of a price: the steps that rating recorded, and what became of the amounts in the policy's line.
import { notFound } from '../../kernel/errors.ts'
import {
  type CurrencyCode,
  type Decimal,
  decimal,
  type Money,
  minorDigits,
  sum,
  toText,
  zero,
} from '../../kernel/money.ts'
import { months } from '../../kernel/time.ts'
import type {
  Worksheet,
  WorksheetCall,
  WorksheetFigure,
  WorksheetPart,
  WorksheetPeril,
  WorksheetPiece,
  WorksheetRun,
  WorksheetScript,
  WorksheetTax,
} from '../../policy/contract/worksheet.ts'
import { lineUpTo } from '../../policy/fold/line.ts'
import {
  type ExposureView,
  type PerilView,
  type PolicyView,
  perilSegmentLocator,
} from '../../policy/projection/policy.ts'
import type {
  Holdback,
  PerilPrice,
  PerilRun,
  PolicyAggregate,
  RatedAmount,
} from '../../policy/records/aggregate.ts'
import { readLookUpKey } from '../../product/templates/effects.ts'
import { feesAndHoldbacks, perilTotals, sumTotals, type Totals, totalTaxes, wholeTotal } from '../price.ts'
import { type RecordedRate, scaleRate } from '../rates.ts'
import {
  type CallRecord,
  type FeeScriptRecord,
  placeOf,
  type RatingRecord,
  type RunRecord,
  type Steps,
} from './record.ts'
import { type Continued, continuedFrom, explainedPieces, extendedFrom } from './shares.ts'

export type Explained = {
  readonly view: PolicyView
  /** For a change: the policy before it. */
  readonly before?: PolicyView
  readonly record: RatingRecord
  /** Whether the price is stored and was rated again for the explanation. */
  readonly isRecorded: boolean
}

/** Throws 404 if the requested exposure or peril is not among those priced. */
export function worksheetOf({ view, before, record, isRecorded }: Explained): Worksheet {
  const { aggregate } = view
  const { currency, timeZone } = aggregate.policy
  const all = view.exposures.flatMap(exposure => exposure.perils.map(peril => ({ exposure, peril })))
  const shown = all.filter(({ peril }) => record.isExplained(peril.peril))
  const { perilLocator, exposureLocator } = record.selection
  if (shown.length === 0 && (perilLocator ?? exposureLocator) !== undefined)
    throw notFound(perilLocator === undefined ? 'exposure' : 'peril', (perilLocator ?? exposureLocator)!)
  const perils = shown.map(({ exposure, peril }) => worksheetPeril(view, exposure, peril, record))
  const totals = sumTotals(
    all.map(({ peril }) => perilTotals(peril, currency)),
    currency,
  )
  const { fees, holdbacks } = feesAndHoldbacks(view)
  return {
    currency,
    decimalPlaces: minorDigits(currency),
    timeZone,
    isRecorded,
    perils,
    morePerils: perilLocator === undefined && exposureLocator === undefined ? all.length - shown.length : 0,
    calls: record.calls.map(shownCall),
    feeScripts: record.feeScripts.map(shownFeeScript),
    fees: fees.map(({ fee, amount, reversed, parts }) => ({
      locator: fee.locator,
      name: fee.name,
      description: fee.description,
      policyModificationLocator: fee.madeBy,
      months: months(fee.start, fee.end, timeZone).toFixed(),
      original: toText(fee.amount),
      parts: parts.map(part => ({
        ...spanOf(part),
        months: months(part.start, part.end, timeZone).toFixed(),
        amount: toText(part.amount),
      })),
      amount: toText(amount),
      reversed,
    })),
    holdbacks: holdbacks.map(one => ({ name: holdbackName(one, aggregate), amount: toText(one.amount) })),
    premium: toText(totals.premium),
    taxes: named(totals.taxes),
    commissions: named(totals.commissions),
    total: toText(wholeTotal(view)),
    ...(before && { totalBefore: toText(wholeTotal(before)) }),
    differs: perils.some(peril => peril.runs.some(run => run.differs)),
    notes: [...record.notes],
  }
}

const named = (amounts: Totals['taxes']): { name: string; amount: string }[] =>
  [...amounts].map(([name, amount]) => ({ name, amount: toText(amount) }))

const spanOf = ({ start, end }: { start: number; end: number }) => ({
  startTimestamp: String(start),
  endTimestamp: String(end),
})

function holdbackName(holdback: Holdback, { perils, perilRuns, fees }: PolicyAggregate): string {
  if (holdback.type === 'fee') return `fee ${fees.get(holdback.feeLocator)!.name}`
  const peril = perils.get(perilRuns.get(holdback.perilRunLocator)!.perilLocator)!.name
  return `${holdback.type}${holdback.type === 'tax' ? ` ${holdback.taxName}` : ''} of ${peril}`
}

function worksheetPeril(
  view: PolicyView,
  { exposure }: ExposureView,
  shown: PerilView,
  record: RatingRecord,
): WorksheetPeril {
  const { currency } = view.aggregate.policy
  const totals = perilTotals(shown, currency)
  const runs = [...new Set(shown.pieces.map(({ run }) => run))]
  return {
    exposureLocator: exposure.locator,
    exposureName: exposure.name,
    perilLocator: shown.peril.locator,
    perilName: shown.peril.name,
    premium: toText(totals.premium),
    ...(totals.technicalPremium && { technicalPremium: toText(totals.technicalPremium) }),
    taxes: named(totals.taxes),
    commissions: named(totals.commissions),
    total: toText(sum([totals.premium, totalTaxes(totals, currency)], currency)),
    runs: runs.map(run => worksheetRun(view, run, runs, record)),
  }
}

function worksheetRun(
  view: PolicyView,
  run: PerilRun,
  runs: readonly PerilRun[],
  record: RatingRecord,
): WorksheetRun {
  const { aggregate, line, shard } = view
  const { timeZone, currency, configVersion } = aggregate.policy
  const modification = aggregate.modifications.get(run.madeBy)!
  const rated = record.runs.get(run.locator)
  const price = run.price ?? { premium: { month: '0', amount: zero(currency) }, taxes: [], commissions: [] }
  const length = months(run.start, run.end, timeZone)
  const figures = rated
    ? ratedFigures(rated, price, currency)
    : ((record.transactions.has(run.madeBy) ? continuedFigures(view, run, runs, price) : undefined) ??
      recordedFigures(price, length))
  const problem = record.problems.get(run.madeBy)
  return {
    policyModificationLocator: run.madeBy,
    transaction: modification.kind,
    ...spanOf(run),
    configVersion: rated?.configVersion ?? configVersion,
    ...shownSteps(rated?.steps),
    parts: (rated?.parts ?? []).map(part => shownPart(part, currency)),
    ...figures,
    differs: hasDifference(figures),
    ...(problem !== undefined && !rated && { problem }),
    pieces: explainedPieces(run, line, timeZone).map(
      ({ piece, from, shares }): WorksheetPiece => ({
        perilCharacteristicsLocator: perilSegmentLocator(run.locator, piece.segment, shard),
        ...spanOf(piece),
        policyModificationLocator: piece.madeBy,
        ...(piece.replacedBy !== undefined && { replacedBy: piece.replacedBy }),
        splitFrom: {
          what: from.what,
          ...spanOf(from.span),
          measure: from.proration === 'linear' ? 'milliseconds' : 'months',
        },
        shares: [...shares],
      }),
    ),
  }
}

type Figures = Pick<
  WorksheetRun,
  'ratedBy' | 'source' | 'premium' | 'technicalPremium' | 'commissions' | 'taxes' | 'continues'
>

const hasDifference = ({ premium, technicalPremium, commissions, taxes }: Figures): boolean =>
  [premium, technicalPremium, ...commissions, ...taxes].some(one => one?.recorded !== undefined)

/** `recorded` is present only if it differs. */
const amountsOf = (again: Money, recorded: Money | undefined): { amount: string; recorded?: string } => {
  const counted = recorded ?? zero(again.currency)
  return {
    amount: toText(again),
    ...(counted.minor !== again.minor && { recorded: toText(counted) }),
  }
}

/** Returns the rate, its months and the resulting amount, by the formula of `scaled`. */
function figureOf(
  rate: RecordedRate,
  length: Decimal,
  again: Money,
  recorded: Money | undefined,
): WorksheetFigure {
  const { yearly, monthly, exact, added } = rate
  const scaledRate = monthly?.times(length) ?? yearly?.times(length).div(12)
  const unrounded = exact ?? (added && scaledRate ? scaledRate.plus(added) : scaledRate)
  const shown = Object.entries({ yearly, monthly, exact, added }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value.toFixed()]],
  )
  return {
    ...Object.fromEntries(shown),
    months: length.toFixed(),
    unrounded: unrounded?.toFixed() ?? '0',
    ...amountsOf(again, recorded),
  }
}

function ratedFigures(
  { ratedBy, source, rates, months: length, price: again, taxes }: RunRecord,
  price: PerilPrice,
  currency: CurrencyCode,
): Figures {
  const { technicalPremium } = again
  const of = (amounts: RatedAmount | undefined) => amounts?.amount
  const commissions = rates.commissions.map(({ recipient, ...rate }, at) => ({
    recipient,
    ...figureOf(rate, length, again.commissions[at]!.amount, of(sameRecipient(price, recipient, at))),
  }))
  const lost = price.commissions
    .filter(({ recipient }, at) => rates.commissions[at]?.recipient !== recipient)
    .map(({ recipient, amount }) => ({
      recipient,
      ...figureOf({}, length, zero(currency), amount),
    }))
  return {
    ratedBy,
    source,
    premium: figureOf(rates.premium, length, again.premium.amount, price.premium.amount),
    ...(technicalPremium && {
      technicalPremium: figureOf(
        rates.technicalPremium,
        length,
        technicalPremium.amount,
        of(price.technicalPremium),
      ),
    }),
    commissions: [...commissions, ...lost],
    taxes: taxes.map(({ name, steps, amount }): WorksheetTax => {
      const now = again.taxes.find(one => one.name === name)?.amount ?? zero(currency)
      const recorded = price.taxes.find(one => one.name === name)?.amount
      return {
        name,
        source: steps.source,
        ...shownSteps(steps),
        unrounded: amount?.toFixed() ?? '0',
        ...amountsOf(now, recorded),
      }
    }),
  }
}

const sameRecipient = (
  { commissions }: PerilPrice,
  recipient: string,
  at: number,
): RatedAmount | undefined => (commissions[at]?.recipient === recipient ? commissions[at] : undefined)

/** Returns the stored amounts, which no rate explains here. */
function recordedFigures(price: PerilPrice, length: Decimal): Figures {
  const figureOfAmount = (amount: Money): WorksheetFigure => {
    const text = toText(amount)
    return { exact: text, months: length.toFixed(), unrounded: text, amount: text }
  }
  return {
    ratedBy: 'recorded',
    premium: figureOfAmount(price.premium.amount),
    ...(price.technicalPremium && { technicalPremium: figureOfAmount(price.technicalPremium.amount) }),
    commissions: price.commissions.map(({ recipient, amount }) => ({ recipient, ...figureOfAmount(amount) })),
    taxes: price.taxes.map(({ name, amount }) => ({
      name,
      source: '',
      ...shownSteps(undefined),
      unrounded: toText(amount),
      amount: toText(amount),
    })),
  }
}

/** Returns the figures of a run that an endorsement continues without rating it again; undefined for any other. */
function continuedFigures(
  { aggregate, quote }: PolicyView,
  run: PerilRun,
  runs: readonly PerilRun[],
  price: PerilPrice,
): Figures | undefined {
  const { timeZone } = aggregate.policy
  const modification = aggregate.modifications.get(run.madeBy)!
  if (modification.kind !== 'endorsement') return undefined
  const line = lineUpTo(aggregate, quote, modification)
  const made = new Set(line.map(step => step.modification.locator))
  const earlier = runs.filter(one => one !== run && one.madeBy !== run.madeBy && made.has(one.madeBy))
  const length = months(run.start, run.end, timeZone)
  const taken = continuedFrom(run, earlier, line, timeZone)
  const shown = (from: Continued) => ({ ...spanOf(from), shares: [...from.shares] })
  const recorded = recordedFigures(price, length)
  if (taken?.shares.find(share => share.of === 'premium')?.amount === recorded.premium.amount)
    return { ...recorded, ratedBy: 'earlierRates', continues: shown(taken) }
  const extended = extendedFrom(run, earlier, line, timeZone)
  const { premium, technicalPremium, commissions } = extended?.run.price ?? {}
  if (!extended || !premium) return undefined
  const { currency } = price.premium.amount
  const over = (rate: RatedAmount | undefined, stored: Money | undefined) =>
    rate && figureOf({ monthly: decimal(rate.month) }, length, scaledMonth(rate, length, currency), stored)
  const figure = over(premium, price.premium.amount)!
  if (figure.recorded !== undefined) return undefined
  return {
    ...recorded,
    ratedBy: 'earlierRates',
    premium: figure,
    ...(technicalPremium && { technicalPremium: over(technicalPremium, price.technicalPremium?.amount)! }),
    commissions: (commissions ?? []).map((one, at) => ({
      recipient: one.recipient,
      ...over(one, price.commissions[at]?.amount)!,
    })),
    continues: shown(extended),
  }
}

const scaledMonth = ({ month }: RatedAmount, length: Decimal, currency: CurrencyCode): Money =>
  scaleRate({ monthly: decimal(month) }, length, currency)!.amount

const shownSteps = (steps: Steps | undefined) => ({
  steps: steps?.list ?? [],
  moreSteps: steps?.more ?? 0,
})

function shownPart(
  { characteristicsLocator, months: length, rate }: RunRecord['parts'][number],
  currency: CurrencyCode,
): WorksheetPart {
  const figureOfRate = (given: RecordedRate): WorksheetFigure => {
    const amount = scaleRate(given, length, currency)?.amount ?? zero(currency)
    return figureOf(given, length, amount, amount)
  }
  const { premium, technicalPremium, commissions } = rate
  const isRated = Object.values(technicalPremium).some(value => value !== undefined)
  return {
    perilCharacteristicsLocator: characteristicsLocator,
    premium: figureOfRate(premium),
    ...(isRated && { technicalPremium: figureOfRate(technicalPremium) }),
    commissions: commissions.map(({ recipient, ...given }) => ({ recipient, ...figureOfRate(given) })),
  }
}

function shownCall({ modification, ratedBy, source, explained, request, answer }: CallRecord): WorksheetCall {
  const { lookups = [], notes = [], more } = explained ?? {}
  return {
    policyModificationLocator: modification,
    ratedBy,
    source,
    lookups: lookups.map(({ table, key, value, row }) => {
      const { keys, column } = readLookUpKey(key)
      return {
        table,
        keys,
        ...(column !== undefined && { column }),
        ...(value !== null && { value }),
        ...placeOf(row),
      }
    }),
    moreLookups: more?.lookups ?? 0,
    notes: notes.map(({ label, value }) => ({ label, value })),
    moreNotes: more?.notes ?? 0,
    ...(request !== undefined && { request }),
    ...(answer !== undefined && { answer }),
  }
}

const shownFeeScript = ({ modification, steps, fees }: FeeScriptRecord): WorksheetScript => ({
  policyModificationLocator: modification,
  source: steps.source,
  ...shownSteps(steps),
  amounts: fees.map(({ name, amount }) => ({ name, amount: amount.toFixed() })),
})
