// What every view of a policy is given beside the policy.
import type { ProductFields } from '../field-values.ts'

export type Known = {
  /** What products, exposures, perils and schedules are called, by their names. */
  readonly names: ReadonlyMap<string, string>
  readonly fields: ProductFields
  /** What the account may do. */
  readonly held: ReadonlySet<string>
}
