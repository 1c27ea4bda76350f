// An installments plugin that works as published ones do: a new charge that takes back an earlier one, and the rest of the
// earlier one, cancel out on the first installment (brief 4.2). All other charges are spread by month over the time that they
// cover.
import type { InstallmentsInput, PluginCharge } from '../../src/extension/plugins/contract.ts'

const DAY = 86_400_000

const cents = (amount: string): number => Math.round(Number(amount) * 100)

/** What a charge and its reversal have in common. */
const sourceOf = (one: PluginCharge): string =>
  [one.type, one.perilCharacteristicsLocator, one.taxLocator, one.commissionLocator, one.feeLocator].join(' ')

const isReversalOf = (one: PluginCharge, rest: PluginCharge): boolean =>
  one.isNew &&
  !rest.isNew &&
  sourceOf(one) === sourceOf(rest) &&
  cents(one.amount) === -cents(rest.originalAmount)

/**
 * Plans by months in UTC. The months that have begun are one installment, issued immediately. Each other month is issued ten days
 * before it begins.
 */
export function pairingBills({ charges, policy }: InstallmentsInput, now: number): unknown {
  const isPaired = (charge: PluginCharge): boolean =>
    charges.some(other => isReversalOf(charge, other) || isReversalOf(other, charge))
  const first = Number(policy.originalContractStartTimestamp)
  const last = charges.filter(one => !isPaired(one)).map(one => Number(one.coverageEndTimestamp))
  const months: { start: number; end: number }[] = []
  for (let start = first; start === first || start < Math.max(...last); start = months.at(-1)!.end)
    months.push({ start, end: new Date(start).setUTCMonth(new Date(start).getUTCMonth() + 1) })
  const begun = months.filter((month, at) => at === 0 || month.start <= now)
  const installments = [begun, ...months.slice(begun.length).map(month => [month])].map(own => ({
    months: own,
    invoiceItems: [] as { chargeId: string; amount: string }[],
  }))
  for (const charge of charges) {
    const [from, until] = [Number(charge.coverageStartTimestamp), Number(charge.coverageEndTimestamp)]
    const shareOf = ({ start, end }: { start: number; end: number }): number =>
      Math.max(0, Math.min(until, end) - Math.max(from, start)) / (end - start)
    const weights = isPaired(charge)
      ? [1]
      : installments.map(one => one.months.reduce((sum, own) => sum + shareOf(own), 0))
    const all = weights.reduce((sum, one) => sum + one, 0)
    let left = cents(charge.amount)
    for (const [at, weight] of weights.entries()) {
      const isLast = weights.slice(at + 1).every(one => one === 0)
      const part = isLast ? left : Math.round((cents(charge.amount) * weight) / all)
      left -= part
      const amount = (part / 100).toFixed(2)
      if (part !== 0) installments[at]!.invoiceItems.push({ chargeId: charge.chargeId, amount })
    }
  }
  // An endorsement needs an item on its first installment.
  const [{ invoiceItems }] = installments as [(typeof installments)[number]]
  if (invoiceItems.length === 0) invoiceItems.push({ chargeId: charges[0]!.chargeId, amount: '0.00' })
  return {
    installments: installments
      .filter(one => one.invoiceItems.length > 0)
      .map(({ months: own, invoiceItems: items }, at) => {
        const { start } = own[0]!
        return {
          startTimestamp: start,
          endTimestamp: own.at(-1)!.end,
          issueTimestamp: at === 0 ? start : start - 10 * DAY,
          dueTimestamp: start + DAY - 1,
          invoiceItems: items,
        }
      }),
  }
}
