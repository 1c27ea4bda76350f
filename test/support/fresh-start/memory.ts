const forgets: (() => void)[] = []

/** Calls `forget` at the start of each test file: files of one worker share what a module keeps. */
export function atFileStart(forget: () => void): void {
  forgets.push(forget)
}

export function forgetEarlierFiles(): void {
  for (const forget of forgets) forget()
}

/** Databases that this runtime's files migrated so far: whether they are empty again is checked. */
export const migratedDatabases = new Set<string>()
