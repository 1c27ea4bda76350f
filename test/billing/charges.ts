import type { Uuid } from '../../src/kernel/locators.ts'
import { type CurrencyCode, fromMinor } from '../../src/kernel/money.ts'
import type { Span } from '../../src/kernel/time.ts'
import type { Charge } from '../../src/policy/bills/charge.ts'

export const EUR = 'EUR' as CurrencyCode

const MODIFICATION = '0d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid
const RUN = '1d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid
const PERIL = '2d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid
const FEE = '3d9cf5b5-3d8e-4f0c-9d3f-6a51a1a0a000' as Uuid

/** Builds a charge over a span, with an amount in minor units. */
export function chargeOf(
  type: Charge['type'],
  amountMinor: number,
  span: Span,
  { id = `${type}/${amountMinor}`, currency = EUR } = {},
): Charge {
  const charge = {
    id,
    amount: fromMinor(amountMinor, currency),
    policyModificationLocator: MODIFICATION,
    ...span,
  }
  const peril = { perilRunLocator: RUN, perilLocator: PERIL, perilName: 'collision' }
  switch (type) {
    case 'premium':
      return { ...charge, ...peril, type }
    case 'holdback':
      return { ...charge, ...peril, type }
    case 'tax':
      return { ...charge, ...peril, type, taxName: 'premium_tax' }
    case 'commission':
      return { ...charge, ...peril, type, commissionRecipient: 'agency' }
    case 'fee':
      return { ...charge, type, feeLocator: FEE, feeName: 'policy_fee' }
  }
}
