// The output of the demonstration: steps in plain words, and figures compared with those worked out by hand.

const money = (amount: unknown): string => Number(amount).toFixed(2)

export type Story = {
  /** Number of figures that differ from the expected ones. */
  wrong: number
  /** Number of figures compared. */
  compared: number
  step(text: string): void
  detail(text: string): void
  /** Prints an amount, and compares it with the expected one. */
  amount(label: string, actual: unknown, expected: string | undefined): void
  /** Prints a text and compares it with the expected one. */
  text(label: string, actual: string, expected: string): void
}

export function newStory(print: (line: string) => void): Story {
  let steps = 0
  const compare = (label: string, shown: string, wanted: string, right: boolean): void => {
    story.compared += 1
    if (!right) story.wrong += 1
    print(`     ${label.padEnd(34)} ${shown.padStart(10)}${right ? '' : `   WRONG: expected ${wanted}`}`)
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
