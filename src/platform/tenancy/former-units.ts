// Releases up to 0.1.0 took the decimals of a currency from the runtime, which has none where cash has none. Stored amounts count minor
// units, so the amounts of these currencies would be read a hundred times too low (IQD: a thousand times). Such a tenant is not served.
import type { Suspension } from './control-tables.ts'

/** Had no decimals in earlier releases, and has those of ISO 4217 now (kernel/currencies.ts). */
export const FORMER_UNITS_CURRENCIES: readonly string[] =
  'AFN ALL COP HUF IDR IQD IRR KPW LAK LBP MGA MMK PKR RSD SLL SOS SYP YER'.split(' ')

/** Of every tenant that is marked. Callers see the reason. */
export const FORMER_UNITS: Suspension = {
  state: 'formerUnits',
  reason:
    'its amounts may be in the minor units of an earlier release, in which its currency had no decimals, and would be read too low. Its operator exports it with the earlier release and imports it with this one (docs/operate.md, Upgrades).',
  since: 0,
}
