// An installments plugin for property tests, as wild as a plugin may be: it spreads the charges over a few installments at all
// kinds of times, in parts of any size, some with the opposite sign, with fees on some installments and others to be written off.
// The same input gives the same answer.
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'

const DAY = 86_400_000

export function scatteredBills(data: InstallmentsInput): unknown {
  let state = [
    ...`${data.operation}${data.paymentScheduleName}${data.charges.map(charge => charge.amount)}`,
  ].reduce((hash, letter) => (Math.imul(hash, 31) + letter.charCodeAt(0)) | 0, 7)
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * limit)
  }
  const start = Number(data.coverageStartTimestamp)
  const days = Math.max(1, Math.round((Number(data.coverageEndTimestamp) - start) / DAY))
  const count = 1 + below(6)
  const installments = Array.from({ length: count }, (_, at) => {
    const from = start + Math.floor((days * at) / count) * DAY
    const issue = start + (below(days + 60) - 30) * DAY
    return {
      startTimestamp: from,
      endTimestamp: from + (1 + below(days)) * DAY,
      issueTimestamp: issue,
      dueTimestamp: String(issue + below(30) * DAY),
      writeOff: below(8) === 0,
      invoiceItems: [] as { chargeId: string; amount: string }[],
      installmentFees:
        below(2) === 0
          ? []
          : [{ feeName: 'installment_fee', amount: below(3) + 1, description: 'by installments' }],
    }
  })
  const [first] = [...installments].sort(
    (a, b) => a.issueTimestamp - b.issueTimestamp || a.startTimestamp - b.startTimestamp,
  )
  for (const { chargeId, amount } of data.charges) {
    const digits = (amount.split('.')[1] ?? '').length
    const minor = Math.round(Number(amount) * 10 ** digits)
    const parts = installments.map(() => 0)
    let left = minor
    for (let at = below(count); at < count - 1; at += 1 + below(2)) {
      parts[at] = below(Math.abs(minor) + 3) - 1
      left -= parts[at]!
    }
    parts[count - 1] = parts[count - 1]! + left
    for (const [at, part] of parts.entries())
      if (part !== 0)
        installments[at]!.invoiceItems.push({ chargeId, amount: (part / 10 ** digits).toFixed(digits) })
  }
  // The first installment of an endorsement must bill something.
  if (data.operation === 'endorsement' && first!.invoiceItems.length === 0) {
    const { chargeId } = data.charges[0]!
    const unit = (minor: number) => {
      const digits = (data.charges[0]!.amount.split('.')[1] ?? '').length
      return (minor / 10 ** digits).toFixed(digits)
    }
    first!.invoiceItems.push({ chargeId, amount: unit(1) })
    installments.at(-1)!.invoiceItems.push({ chargeId, amount: unit(-1) })
  }
  return { installments }
}
