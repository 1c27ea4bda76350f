import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { EXIT } from '../../cli/exit.ts'
import { bindery } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-docs-'))
afterAll(() => rmSync(folder, { recursive: true }))

const TEXT = readFileSync('docs/cli.md', 'utf8')

/** Returns what docs/cli.md shows below the command, up to the next command or the end of the block. */
function shownOutput(command: string): string {
  const [, output] = TEXT.split(`$ npx bindery ${command}\n`)
  return output!.split(/\n\$ |```/)[0]!.trimEnd()
}

const inFolder = (name: string): string => join(folder, name)

const change = (path: string, from: string, to: string): void => {
  const file = inFolder(`bicycle/configuration/products/bicycle/policy/exposures/bicycle/${path}`)
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
}

describe('docs/cli.md', () => {
  test('shows what the commands print', async () => {
    const made = await bindery('new', inFolder('bicycle'))
    expect(made.out.replaceAll(`${folder}/`, '').trimEnd()).toBe(shownOutput('new bicycle'))
    const priced = await bindery('price', inFolder('bicycle'), '--policy', inFolder('bicycle/policy.json'))
    expect(priced.out.trimEnd()).toBe(shownOutput('price bicycle --policy bicycle/policy.json'))
    for (const command of ['schema', 'types']) {
      const { out } = await bindery(command, '--into', inFolder('bicycle'))
      expect(out.replaceAll(`${folder}/`, '').trimEnd()).toBe(shownOutput(`${command} --into bicycle`))
    }
    const rates = inFolder('bicycle/configuration/products/bicycle/policy/tables/theft_rate.csv')
    const table = readFileSync(rates, 'utf8')
    writeFileSync(rates, table.replace('race,0.071', 'race,0'))
    const options = ['--seed', '7', '--at', '2027-01-01']
    const tried = await bindery('try', inFolder('bicycle'), ...options)
    writeFileSync(rates, table)
    const timeless = (text: string): string => text.replace(/in \d+\.\d s/, 'in a moment')
    expect(timeless(tried.out.trimEnd())).toBe(timeless(shownOutput(`try bicycle ${options.join(' ')}`)))
    change('exposure.json', '"select"', '"slect"')
    change('perils/theft.premium.liquid', 'round', 'rond')
    const checked = await bindery('check', inFolder('bicycle'))
    const places = checked.out.replaceAll(/^\S*(?=bicycle\/configuration)/gm, '')
    expect(places.trimEnd()).toBe(shownOutput('check bicycle'))
  })

  test('lists the exit codes', () => {
    const listed = [...TEXT.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code))
    expect(listed).toEqual(Object.values(EXIT))
  })
})
