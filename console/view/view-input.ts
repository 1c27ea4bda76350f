// What every view of a policy receives in addition to the policy.
import type { ProductFields } from '../field-values.ts'

export type Known = {
  /** Display names of products, exposures, perils and schedules, by their names. */
  readonly names: ReadonlyMap<string, string>
  readonly fields: ProductFields
  /** The permissions of the account. */
  readonly held: ReadonlySet<string>
}
