// Follows docs/tutorial.md as a reader does: writes its files as shown, runs its commands in order, and compares what they print.
// The result is examples/commercial_property.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { perform, stepsOf, writeStep } from '../support/tutorial.ts'
import { bindery } from './terminal.ts'

const PROJECT = 'commercial_property'
const EXAMPLE = `examples/${PROJECT}`

const folder = mkdtempSync(join(tmpdir(), 'bindery-tutorial-'))
afterAll(() => rmSync(folder, { recursive: true }))

const STEPS = stepsOf(readFileSync('docs/tutorial.md', 'utf8'))

/** Replaces the name of the project by its folder. */
const placed = (word: string): string =>
  word === PROJECT || word.startsWith(`${PROJECT}/`) ? join(folder, word) : word

/** Returns what the command prints if it is typed in the folder around the project. */
async function typed(command: string): Promise<string> {
  const [npx, program, ...words] = command.split(' ')
  expect([npx, program]).toEqual(['npx', 'bindery'])
  const { out, err } = await bindery(...words.map(placed))
  return (err + out)
    .replaceAll(`${folder}/`, '')
    .replaceAll(/^\S*(?=commercial_property\/configuration)/gm, '')
}

/** Removes what differs between runs: the time that scenarios took. */
const steady = (text: string): string => text.trimEnd().replace(/[\d.]+ s\)/g, 'N s)')

const LEFT_OUT = '…\n'

/** Returns what was printed without what the page leaves out, or all of it if it lacks what the page shows. */
function shortened(printed: string, said: string): string {
  const parts = said.split(LEFT_OUT).filter(part => part !== '')
  if (parts.length > 1 || !said.includes(LEFT_OUT)) return steady(printed)
  return printed.includes(parts[0]!) ? steady(said) : steady(printed)
}

/** Returns the files below the folder with their texts, without the note to editors, whose path differs in each copy. */
const filesOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(file => [
        file.slice(root.length + 1),
        readFileSync(file, 'utf8').replace(/^( {2}"\$schema": "[^"]*",|# yaml-language-server: .*)\n/m, ''),
      ]),
  )

describe('the tutorial', () => {
  test('shows what each command prints', async () => {
    let commands = 0
    for (const step of STEPS)
      if (step.kind === 'file') writeStep(join(folder, PROJECT), step)
      else if (!step.command.startsWith('npx ')) perform(folder, step.command)
      else {
        commands += 1
        expect(`$ ${step.command}\n${shortened(await typed(step.command), step.prints)}`).toBe(
          `$ ${step.command}\n${steady(step.prints)}`,
        )
      }
    expect(commands).toBeGreaterThan(6)
  })

  test('ends with the files of the example', () => {
    const built = Object.entries(filesOf(join(folder, PROJECT))).filter(([path]) =>
      /^(configuration|scenarios)\/|^polic/.test(path),
    )
    expect(built.length).toBeGreaterThan(35)
    const { 'README.md': _, ...example } = filesOf(EXAMPLE)
    expect(Object.fromEntries(built)).toEqual(example)
  })

  test('builds three kinds of exposures, six perils, two taxes, two fees and a plugin', async () => {
    const { out } = await bindery('check', EXAMPLE)
    expect(out).toBe('0 errors, 0 warnings: commercial_property with 3 exposures, 6 perils; 1 script\n')
    const priced = await bindery('price', EXAMPLE, '--policy', join(EXAMPLE, 'policy.json'), '--json')
    const { price } = JSON.parse(priced.out) as {
      price: { taxGroups: { name: string }[]; fees: { name: string }[] }
    }
    expect(price.taxGroups.map(({ name }) => name)).toEqual(['premium_tax', 'fire_marshal_tax'])
    expect(price.fees.map(({ name }) => name)).toEqual(['policy_fee', 'inspection_fee'])
  })
})
