import { decimal, LARGEST_MINOR } from '../../kernel/money.ts'
import type { PerilDefaults } from '../../product/configuration.ts'
import {
  type FieldError,
  type FieldErrorCode,
  fieldError,
  isPlainNumber,
  plainDecimal,
} from '../../product/fields/values.ts'
import type { PerilAmounts, PerilAmountsCreate, PerilAmountsUpdate } from '../records/changes.ts'

type AmountName = keyof PerilAmounts

/** For each amount: whether it may be `unlimited`, and the flag of an update that removes it. */
const AMOUNTS = {
  deductible: { unlimited: false, remove: 'removeDeductible' },
  lumpSumPayment: { unlimited: false, remove: 'removeLumpSumPayment' },
  indemnityInAggregate: { unlimited: true, remove: 'removeIndemnityInAggregate' },
  indemnityPerEvent: { unlimited: true, remove: 'removeIndemnityPerEvent' },
  indemnityPerItem: { unlimited: true, remove: 'removeIndemnityPerItem' },
} as const satisfies Record<AmountName, { unlimited: boolean; remove: string }>

const NAMES = Object.keys(AMOUNTS) as AmountName[]

/** `fieldName` of a problem is the name of the amount, e.g. `deductible`. */
export type PerilAmountsResult = { amounts: PerilAmounts; problems: FieldError[] }

/** The amounts of a new peril: what the request leaves out comes from the peril's defaults (brief 5.1). */
export function createPerilAmounts(defaults: PerilDefaults, request: PerilAmountsCreate): PerilAmountsResult {
  return changed(defaults, request, () => false)
}

/** The amounts after an update: what it leaves out stays; a remove flag beats a value (brief 6.5). */
export function updatePerilAmounts(current: PerilAmounts, update: PerilAmountsUpdate): PerilAmountsResult {
  return changed(current, update, name => update[AMOUNTS[name].remove] === true)
}

function changed(
  before: PerilAmounts,
  request: PerilAmountsCreate,
  isRemoved: (name: AmountName) => boolean,
): PerilAmountsResult {
  const amounts: PerilAmounts = {}
  const problems: FieldError[] = []
  for (const name of NAMES) {
    if (isRemoved(name)) continue
    const wire = request[name]
    const read = wire === null || wire === undefined || wire === '' ? before[name] : readAmount(name, wire)
    if (typeof read === 'string') amounts[name] = read
    else if (read) problems.push(read)
  }
  return { amounts, problems }
}

function readAmount(name: AmountName, wire: unknown): string | FieldError {
  const { unlimited } = AMOUNTS[name]
  const problem = (code: FieldErrorCode, rule: string): FieldError =>
    fieldError(name, code, unlimited ? `${rule}, or 'unlimited'` : rule)
  if (unlimited && wire === 'unlimited') return wire
  const text = typeof wire === 'number' && Number.isFinite(wire) ? decimal(wire).toFixed() : wire
  if (typeof text !== 'string' || !isPlainNumber(text))
    return problem('INVALID_TYPE', 'must be a number in plain digits without separators or exponent')
  const amount = plainDecimal(text)
  if (amount === undefined || amount.lt(0) || amount.gt(LARGEST_MINOR))
    return problem('INVALID_VALUE', `must be a number from 0 to ${LARGEST_MINOR}`)
  return text
}
