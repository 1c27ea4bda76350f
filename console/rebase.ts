// Single values and sets of a record that was read again, with the entries of the user. Forms with fields: desk/rebase.ts.

/** Returns the value that the user entered, or the record's present value if the user has not changed it. */
export const rebased = <Value>(before: Value, entered: Value, now: Value): Value =>
  JSON.stringify(before) === JSON.stringify(entered) ? now : entered

/** Returns the present set with what the user has added to the former one, and without what the user has removed from it. */
export const rebasedSet = (
  before: readonly string[],
  entered: ReadonlySet<string>,
  now: readonly string[],
): ReadonlySet<string> =>
  new Set([
    ...now.filter(one => entered.has(one) || !before.includes(one)),
    ...[...entered].filter(one => !before.includes(one)),
  ])
