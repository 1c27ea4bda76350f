// What a test file excludes from the journal check. The reason is next to the call. Files share this module.

let isLeftOut = false
const policies = new Set<string>()

/** For files whose databases get the tables of the books only after their policies. */
export const leaveOutJournal = (): void => {
  isLeftOut = true
}

/** For policies whose records a test gives other locators by hand. */
export const leaveOutPolicy = (locator: string): void => {
  policies.add(locator)
}

/** Whether the policy is checked against its journal. */
export const isChecked = (locator: number): boolean => !isLeftOut && !policies.has(String(locator))

export function forgetLeftOut(): void {
  isLeftOut = false
  policies.clear()
}
