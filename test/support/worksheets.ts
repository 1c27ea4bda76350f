// Recomputes a price from the lines of its worksheet alone, with separate arithmetic.
import Big from 'big.js'
import { expect } from 'vitest'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import type {
  Worksheet,
  WorksheetFigure,
  WorksheetPeril,
  WorksheetPiece,
  WorksheetRun,
  WorksheetShare,
  WorksheetStep,
  WorksheetTax,
} from '../../src/policy/contract/worksheet.ts'
import { monthsBetween } from './naive-time.ts'

const Exact = Big()
Exact.DP = 40

const exact = (text: string): Big => new Exact(text)
const add = (texts: readonly string[]): Big => texts.reduce((total, one) => total.plus(one), exact('0'))

/** The amount that counts: the recorded one if it differs. */
const counted = ({ amount, recorded = amount }: { amount: string; recorded?: string | undefined }): string =>
  recorded

type Terms = { readonly places: number; readonly zone: TimeZone }

/** Returns the total of the lines. Fails if a line does not follow from those before it. */
export function recomputed(sheet: Worksheet): string {
  const terms = { places: sheet.decimalPlaces, zone: sheet.timeZone as TimeZone }
  for (const peril of sheet.perils) checkPeril(peril, terms)
  for (const { steps, amounts } of sheet.feeScripts) {
    steps.forEach(checkStep)
    const set = steps.filter(step => step.name === 'add_fee')
    expect(set.map(({ input, arguments: [name] = [] }) => ({ name, amount: input }))).toEqual(
      amounts.map(({ name, amount }) => ({ name, amount: exact(amount).toFixed() })),
    )
  }
  for (const fee of sheet.fees)
    same(fee.reversed ? '0' : fee.amount, add(fee.parts.map(part => part.amount)).toFixed())
  const premium = add(sheet.perils.map(one => one.premium))
  const taxes = add(sheet.perils.flatMap(one => one.taxes.map(tax => tax.amount)))
  const fees = add(sheet.fees.filter(one => !one.reversed).map(one => one.amount))
  const kept = add(
    sheet.holdbacks
      .filter(holdback => !holdback.name.startsWith('commission'))
      .map(holdback => holdback.amount),
  )
  if (sheet.morePerils === 0) {
    same(sheet.premium, premium.toFixed())
    same(sheet.total, premium.plus(taxes).plus(fees).plus(kept).toFixed())
  }
  return premium.plus(taxes).plus(fees).plus(kept).toFixed(sheet.decimalPlaces)
}

const same = (shown: string, worked: string): void => {
  expect(exact(shown).toFixed(), `${shown} is not ${worked}`).toBe(exact(worked).toFixed())
}

function checkPeril(peril: WorksheetPeril, terms: Terms): void {
  for (const run of peril.runs) checkRun(run, terms)
  const standing = peril.runs.flatMap(run => run.pieces).filter(piece => piece.replacedBy === undefined)
  const shares = standing.flatMap(piece => piece.shares)
  const sumOf = (of: WorksheetShare['of'], name?: string): string =>
    add(shares.filter(share => share.of === of && share.name === name).map(share => share.amount)).toFixed()
  same(peril.premium, sumOf('premium'))
  if (peril.technicalPremium !== undefined) same(peril.technicalPremium, sumOf('technicalPremium'))
  for (const { name, amount } of peril.taxes) same(amount, sumOf('tax', name))
  for (const { name, amount } of peril.commissions) same(amount, sumOf('commission', name))
  same(
    peril.total,
    exact(peril.premium)
      .plus(add(peril.taxes.map(tax => tax.amount)))
      .toFixed(),
  )
}

function checkRun(run: WorksheetRun, terms: Terms): void {
  const { zone } = terms
  const length = monthsBetween(at(run.startTimestamp), at(run.endTimestamp), zone)
  const figures = [run.premium, ...(run.technicalPremium ? [run.technicalPremium] : []), ...run.commissions]
  for (const figure of figures) {
    same(figure.months, length.toFixed())
    checkFigure(figure, terms)
  }
  run.steps.forEach(checkStep)
  if (run.ratedBy === 'template') checkSet(run)
  for (const part of run.parts)
    for (const figure of [
      part.premium,
      ...(part.technicalPremium ? [part.technicalPremium] : []),
      ...part.commissions,
    ])
      checkFigure(figure, terms)
  const [only] = run.parts
  if (only && run.parts.length === 1) {
    const { yearly, monthly, exact: given } = only.premium
    expect(run.premium).toMatchObject(JSON.parse(JSON.stringify({ yearly, monthly, exact: given })))
  } else if (only && run.premium.exact !== undefined)
    same(run.premium.exact, add(run.parts.map(part => part.premium.amount)).toFixed())
  for (const tax of run.taxes) checkTax(tax, terms)
  for (const piece of run.pieces) checkPiece(piece, terms)
  const own = run.pieces.filter(one => one.splitFrom.what === 'run')
  if (own.length > 0) {
    same(counted(run.premium), sumOfShares(own, 'premium'))
    for (const tax of run.taxes)
      if (run.pieces[0]!.shares.some(share => share.of === 'tax' && share.name === tax.name))
        same(counted(tax), sumOfShares(own, 'tax', tax.name))
  }
}

const at = (timestamp: string): Instant => Number(timestamp) as Instant

const sumOfShares = (pieces: readonly WorksheetPiece[], of: WorksheetShare['of'], name?: string): string =>
  add(
    pieces
      .flatMap(piece => piece.shares.filter(share => share.of === of && share.name === name))
      .map(one => one.amount),
  ).toFixed()

function checkFigure(figure: WorksheetFigure, { places }: Terms): void {
  const { yearly, monthly, exact: given, added = '0', months, unrounded, amount } = figure
  const worked =
    given !== undefined
      ? exact(given)
      : monthly !== undefined
        ? exact(monthly).times(months).plus(added)
        : yearly !== undefined
          ? exact(yearly).times(months).div(12).plus(added)
          : exact('0')
  expect(worked.minus(unrounded).abs().lt('1e-15'), `${unrounded} is not ${worked.toFixed()}`).toBe(true)
  same(amount, worked.round(places, Big.roundHalfUp).toFixed())
}

const ARITHMETIC: Record<string, (a: Big, b: Big) => Big> = {
  plus: (a, b) => a.plus(b),
  minus: (a, b) => a.minus(b),
  times: (a, b) => a.times(b),
  divided_by: (a, b) => a.div(b),
  round: (a, b) => a.round(Number(b), Big.roundHalfUp),
  at_least: (a, b) => (a.lt(b) ? b : a),
  at_most: (a, b) => (a.gt(b) ? b : a),
}

/** Number of lines of arithmetic that were recomputed. */
export let arithmeticLines = 0

function checkStep({ kind, name, input, arguments: [argument = '0'] = [], result }: WorksheetStep): void {
  const work = Object.hasOwn(ARITHMETIC, name) ? ARITHMETIC[name] : undefined
  if (kind !== 'compute' || !work || input === undefined) return
  arithmeticLines += 1
  same(result!, work(exact(input), exact(argument)).toFixed())
}

/** The rates are the last ones that the template set. */
function checkSet({ steps, premium, technicalPremium }: WorksheetRun): void {
  const last = (name: string): string | undefined =>
    steps.findLast(step => step.kind === 'set' && step.name === name)?.input
  const added = steps.filter(step => step.name === 'add_premium').map(step => step.input!)
  const shown = { ...premium }
  const given = { yearly: last('set_year_premium'), monthly: last('set_month_premium') }
  const once = last('set_peril_premium')
  expect(shown.yearly).toBe(given.yearly)
  expect(shown.monthly).toBe(given.monthly)
  const isBesideRate = once === undefined && (given.yearly ?? given.monthly) !== undefined
  if (added.length > 0 && isBesideRate) same(shown.added!, add(added).toFixed())
  else if (added.length > 0) same(shown.exact!, add([...added, once ?? '0']).toFixed())
  else expect(shown.exact).toBe(once)
  if (technicalPremium) expect(technicalPremium.yearly).toBe(last('set_year_technical_premium'))
}

function checkTax({ steps, unrounded, amount }: WorksheetTax, { places }: Terms): void {
  steps.forEach(checkStep)
  if (steps.length > 0) {
    const set = steps.findLast(step => step.name === 'set_peril_tax')?.input ?? '0'
    const added = steps.filter(step => step.name === 'add_tax').map(step => step.input!)
    same(unrounded, add([set, ...added]).toFixed())
  }
  same(amount, exact(unrounded).round(places, Big.roundHalfUp).toFixed())
}

function checkPiece(piece: WorksheetPiece, { places, zone }: Terms): void {
  for (const { from, how, part, whole, amount } of piece.shares) {
    expect(how).not.toBe('recorded')
    if (how === 'all' || how === 'rest') same(amount, from)
    if (how !== 'share') continue
    const value = exact(from)
    const share = value.abs().times(part!).div(whole!).round(places, Big.roundHalfUp)
    same(amount, value.lt(0) ? share.times(-1).toFixed() : share.toFixed())
    const end = piece.splitFrom.what === 'removed' ? piece.splitFrom.endTimestamp : piece.endTimestamp
    const [start, until] = [at(piece.startTimestamp), at(end)]
    const measured =
      piece.splitFrom.measure === 'months' ? monthsBetween(start, until, zone) : exact(String(until - start))
    same(part!, measured.toFixed())
  }
}
