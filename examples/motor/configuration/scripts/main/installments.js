// Payment by installments for a fee: the plan of the built-in schedules, with a fee on every installment except the
// first. A policy that is paid in full, a small amount and a refund have one installment, without a fee.
const { addDays, addMonths, endOfDay } = require('../lib/calendar.js')

const FEE = 2
const SMALLEST_PLAN = 5
const MONTHS = { annually: 12, semiannually: 6, quarterly: 3, monthly: 1 }

/** @type {Bindery.CreateInstallments} */
function createInstallments(data) {
  const minorUnits = minorUnitsOf(data.charges)
  const charges = data.charges.map(charge => ({
    id: charge.chargeId,
    isPayable: charge.type !== 'commission',
    start: Number(charge.coverageStartTimestamp),
    end: Number(charge.coverageEndTimestamp),
    minor: Math.round(Number(charge.amount) * minorUnits),
  }))
  const now = Date.now()
  const periods = isLarge(charges, minorUnits) ? paidTogether(periodsOf(data, charges), endOfDay(now, data.tenantTimeZone)) : []
  const installments = (periods.length > 0 ? periods : [wholeOf(charges)]).map(period => ({ ...period, items: [] }))
  for (const charge of charges) spread(charge, installments)

  const billing = withoutRefunds(installments.filter(one => one.items.length > 0))
  return {
    installments: billing.map((one, at) => ({
      startTimestamp: one.start,
      endTimestamp: one.end,
      ...timesOf(one, at === 0, data, now),
      invoiceItems: one.items.map(({ charge, minor }) => ({ chargeId: charge.id, amount: minor / minorUnits })),
      installmentFees:
        at === 0 ? [] : [{ feeName: 'installment_fee', description: 'Payment by installments', amount: FEE }],
    })),
  }
}

const sum = numbers => numbers.reduce((total, one) => total + one, 0)

// Amounts are text with all digits of the currency: 100 units for "379.10", 1 for "379" yen, 1,000 for "379.105" dinars.
const minorUnitsOf = charges => 10 ** (charges[0]?.amount.split('.')[1] ?? '').length

const isLarge = (charges, minorUnits) =>
  sum(charges.filter(one => one.isPayable).map(one => one.minor)) > SMALLEST_PLAN * minorUnits

function wholeOf(charges) {
  const start = charges.reduce((earliest, one) => Math.min(earliest, one.start), Infinity)
  const end = charges.reduce((latest, one) => Math.max(latest, one.end), -Infinity)
  return { start, end, parts: [{ start, end, whole: end - start }] }
}

// Returns the months, quarters or years of the contract that the charges cover, or none if everything is paid in full.
function periodsOf({ policy, paymentScheduleName, tenantTimeZone }, charges) {
  const months = MONTHS[paymentScheduleName]
  if (!months) return []
  const { start, end } = wholeOf(charges)
  const first = Number(policy.originalContractStartTimestamp)
  const periods = []
  for (let count = 0; ; count++) {
    const from = addMonths(first, count * months, tenantTimeZone)
    if (from >= end) return periods
    const next = addMonths(first, (count + 1) * months, tenantTimeZone)
    const span = { start: from, end: Math.min(next, end) }
    if (next > start) periods.push({ ...span, parts: [{ ...span, whole: next - from }] })
  }
}

// Combines the periods that begin by the end of today into one.
function paidTogether(periods, endOfToday) {
  const past = periods.filter(one => one.start <= endOfToday)
  const coming = periods.slice(past.length)
  return past.length === 0 ? coming : [together(past), ...coming]
}

const together = several => ({
  start: several[0].start,
  end: several[several.length - 1].end,
  parts: several.flatMap(one => one.parts),
  items: several.flatMap(one => one.items || []),
})

// Divides the charge among the installments: equal parts for whole periods, and the covered share of partial ones. The
// last installment gets the rounding difference.
function spread(charge, installments) {
  const shareOf = ({ start, end, whole }) =>
    Math.max(0, Math.min(end, charge.end) - Math.max(start, charge.start)) / whole
  const shares = installments.map(one => sum(one.parts.map(shareOf)))
  if (sum(shares) === 0) shares[0] = 1
  const total = sum(shares)
  const last = shares.length - 1 - [...shares].reverse().findIndex(share => share > 0)
  let left = charge.minor
  shares.forEach((share, at) => {
    const minor = at === last ? left : Math.trunc((charge.minor * share) / total)
    left -= minor
    if (minor !== 0) installments[at].items.push({ charge, minor })
    if (at === last) left = 0
  })
}

// Combines all installments up to the last one with a negative total, so that nobody waits for a refund.
function withoutRefunds(installments) {
  const dues = installments.map(({ items }) => sum(items.filter(one => one.charge.isPayable).map(one => one.minor)))
  const last = dues.length - 1 - [...dues].reverse().findIndex(due => due < 0)
  if (last === dues.length) return installments
  return [together(installments.slice(0, last + 1)), ...installments.slice(last + 1)]
}

// The first is invoiced immediately. Others are due on the day on which they begin, and invoiced payment terms earlier.
function timesOf({ start }, isFirst, { tenantTimeZone, defaultPaymentTerms }, now) {
  const today = endOfDay(now, tenantTimeZone)
  const due = Math.max(endOfDay(start, tenantTimeZone), today)
  const issue = isFirst ? now : Math.max(addDays(due, -Number(defaultPaymentTerms.amount), tenantTimeZone), now)
  return { issueTimestamp: issue, dueTimestamp: due }
}

exports.createInstallments = createInstallments
