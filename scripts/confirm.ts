import { createInterface } from 'node:readline/promises'

/**
 * Asks for the word that confirms an irreversible action. Resolves to false for any other answer, or if no terminal is attached.
 */
export async function confirmed(what: string, word: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    console.error(`${what} With --yes it is done without a question.`)
    return false
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(`${what}\nType ${word} to go on: `)).trim() === word
  } finally {
    asking.close()
  }
}
