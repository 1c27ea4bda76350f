// Releases up to 0.1.0 took the decimals of a currency from the runtime, which follows cash usage and has none for the currencies
// below. Stored amounts count minor units, so amounts in these currencies would now be read a hundred times too low (IQD: a
// thousand times). Such a tenant is not served.
import type { Suspension } from './control-tables.ts'

/** Currencies that had no decimals in earlier releases and now have those of ISO 4217 (kernel/currencies.ts). */
export const FORMER_UNITS_CURRENCIES: readonly string[] =
  'AFN ALL COP HUF IDR IQD IRR KPW LAK LBP MGA MMK PKR RSD SLL SOS SYP YER'.split(' ')

/** The suspension of every tenant that is marked. Callers see the reason. */
export const FORMER_UNITS: Suspension = {
  state: 'formerUnits',
  reason:
    'its amounts may be in minor units of an earlier release, in which its currency had no decimals, and would be read too low. The operator must export it with the earlier release and import it with this one (docs/operate.md, Upgrades).',
  since: 0,
}
