// What a file of tests does not hold against its journal, with the reason beside the call. Files share this module.

let isLeftOut = false
const policies = new Set<string>()

/** Its databases get the tables of the books after their policies. */
export const leaveOutJournal = (): void => {
  isLeftOut = true
}

/** Its records are given other locators by hand. */
export const leaveOutPolicy = (locator: string): void => {
  policies.add(locator)
}

/** Whether the policy is held against its journal. */
export const isHeld = (locator: number): boolean => !isLeftOut && !policies.has(String(locator))

export function forgetLeftOut(): void {
  isLeftOut = false
  policies.clear()
}
