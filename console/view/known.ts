// What every view of a policy is given beside the policy.

export type Known = {
  /** What products, exposures, perils and schedules are called, by their names. */
  readonly names: ReadonlyMap<string, string>
  /** What fields are called, by their names. */
  readonly titles: ReadonlyMap<string, string>
  /** What the account may do. */
  readonly held: ReadonlySet<string>
}
