import { createInterface } from 'node:readline/promises'

/**
 * Asks for the word that confirms an irreversible action. Resolves to false for any other answer, or if no terminal is attached.
 */
export async function askToConfirm(what: string, word: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    console.error(`${what} Nobody can confirm here: add --yes to run it without confirmation.`)
    return false
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(`${what}\nType ${word} to continue: `)).trim() === word
  } finally {
    asking.close()
  }
}
