// What the demonstration prints: steps as a person reads them, and figures held against those worked out by hand.

const money = (amount: unknown): string => Number(amount).toFixed(2)

export type Story = {
  /** Figures that differ from what they should be. */
  wrong: number
  /** How many figures were compared. */
  compared: number
  step(text: string): void
  detail(text: string): void
  /** Prints an amount, and compares it with the one expected. */
  amount(label: string, actual: unknown, expected: string | undefined): void
  /** Compares a text or a list of texts; prints it. */
  text(label: string, actual: string, expected: string): void
}

export function newStory(print: (line: string) => void): Story {
  let steps = 0
  const compare = (label: string, shown: string, wanted: string, right: boolean): void => {
    story.compared += 1
    if (!right) story.wrong += 1
    print(`     ${label.padEnd(34)} ${shown.padStart(10)}${right ? '' : `   WRONG: it should be ${wanted}`}`)
  }
  const story: Story = {
    wrong: 0,
    compared: 0,
    step(text) {
      steps += 1
      print(`\n${String(steps).padStart(2)}.  ${text}`)
    },
    detail: text => print(`     ${text}`),
    amount(label, actual, expected) {
      const right = expected !== undefined && actual !== undefined && money(actual) === money(expected)
      compare(label, actual === undefined ? 'missing' : money(actual), expected ?? 'absent', right)
    },
    text: (label, actual, expected) => compare(label, actual, expected, actual === expected),
  }
  return story
}
