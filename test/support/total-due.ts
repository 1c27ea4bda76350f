import { type CurrencyCode, type Money, sum } from '../../src/kernel/money.ts'
import { isPayable } from '../../src/policy/bills/charge.ts'
import type { InstallmentItem } from '../../src/policy/bills/items.ts'

/** The total that the items ask for: premium, taxes and fees, without commissions (brief 3.1). */
export const totalDue = (items: Iterable<InstallmentItem>, currency: CurrencyCode): Money =>
  sum(
    Array.from(items)
      .filter(item => isPayable(item.charge))
      .map(item => item.amount),
    currency,
  )
