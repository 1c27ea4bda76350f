const forgets: (() => void)[] = []

/** Calls `forget` at the start of each test file. Files of one worker share the state of modules. */
export function atFileStart(forget: () => void): void {
  forgets.push(forget)
}

export function forgetEarlierFiles(): void {
  for (const forget of forgets) forget()
}

/** Databases that this runtime's files have migrated so far. Each file start checks that they are empty again. */
export const migratedDatabases = new Set<string>()
