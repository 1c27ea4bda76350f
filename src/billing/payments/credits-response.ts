import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { UUID_FORM, writePagingToken } from '../../platform/paging.ts'
import type { PolicyholderCreditsResponse } from '../../policy/contract/billing.ts'
import { textIfAny } from '../../policy/projection/characteristics.ts'
import type { PaymentSource } from '../../policy/records/invoice.ts'

/** A payment that made or used credit, as its row has it: amounts in minor units. */
type Movement = {
  readonly locator: string
  readonly policyLocator: number
  readonly invoiceLocator: string
  readonly source: PaymentSource
  readonly amount: number
  readonly credited: number
  readonly currency: string
  readonly postedAt: number
  readonly reversedAt: number | null
}

/** A policyholder's credit, and a page of what made it: `movements` has one more when there are more. */
export function policyholderCredits(
  holder: Uuid,
  balances: readonly { currency: string; minor: number }[],
  movements: readonly Movement[],
  pageSize: number,
): PolicyholderCreditsResponse {
  const page = movements.slice(0, pageSize)
  const last = page.at(-1)
  const amounts = (minor: number, currency: string) => ({
    amount: toNumber(fromMinor(minor, currency as CurrencyCode)),
    amountCurrency: currency,
  })
  return {
    policyholderLocator: holder,
    balances: balances
      .filter(({ minor }) => minor !== 0)
      .map(({ currency, minor }) => amounts(minor, currency)),
    movements: page.map(one => ({
      paymentLocator: one.locator,
      policyLocator: String(one.policyLocator),
      invoiceLocator: one.invoiceLocator,
      type: typeOf(one),
      ...amounts(one.source === 'credit' ? -one.amount : one.credited, one.currency),
      postedTimestamp: String(one.postedAt),
      reversedTimestamp: textIfAny(one.reversedAt ?? undefined),
    })),
    ...(last &&
      movements.length > page.length && {
        pagingToken: writePagingToken(
          [{ createdAt: last.postedAt as Instant, locator: last.locator as Uuid }],
          UUID_FORM,
        ),
      }),
  }
}

function typeOf({ source, amount }: Movement): 'overpayment' | 'refund' | 'use' {
  if (source === 'received') return 'overpayment'
  return amount < 0 ? 'refund' : 'use'
}
