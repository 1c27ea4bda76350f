// `npm run docs:impact [-- --accounts N] [--out FOLDER]`: measures the impact of a made-up change of rates on the made-up book of
// the motor example. Writes the charts of its page as pictures for the documentation, and prints how long it took.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeBook } from './generate-book.ts'

/**
 * A change as an actuary would make it: lower rates for regions with few claims, higher rates for theft, and a higher minimum
 * premium for damage.
 */
const EDITS: readonly (readonly [file: string, from: string, to: string])[] = [
  ['tables/region_factor.csv', 'R1,0.86', 'R1,0.82'],
  ['tables/region_factor.csv', 'R2,0.94', 'R2,0.92'],
  ['tables/region_factor.csv', 'R4,1.08', 'R4,1.11'],
  ['exposures/vehicle/perils/theft.premium.liquid', 'times: 0.00018', 'times: 0.0002'],
  ['exposures/vehicle/perils/own_damage.premium.liquid', 'at_least: 60', 'at_least: 75'],
]

/** The date of the book. */
const DAY = '2026-10-01'

/** Ids of the charts in the page, which are also the names of the pictures. */
const PICTURES = ['histogram', 'covers', 'group-region_class']

/** Writes the motor example with the change to a separate folder. */
export function changedRates(folder: string): string {
  const copy = join(folder, 'motor-2027')
  cpSync('examples/motor/configuration', copy, { recursive: true })
  for (const [file, from, to] of EDITS) {
    const path = join(copy, 'products/private_motor/policy', file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} no longer has '${from}'.`)
    writeFileSync(path, text.replace(from, to))
  }
  return copy
}

/** Returns the picture of that id in the page. */
export function pictureOf(page: string, id: string): string {
  const [picture] = new RegExp(`<svg [^>]*id="${id}".*?</svg>`, 's').exec(page) ?? []
  if (picture === undefined) throw new Error(`The page has no chart '${id}'.`)
  return picture
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { accounts: { type: 'string', default: '10000' }, out: { type: 'string', default: 'docs' } },
  })
  const folder = mkdtempSync(join(tmpdir(), 'bindery-impact-'))
  try {
    const book = join(folder, 'book')
    const { accounts, policies } = writeBook(book, { accounts: Number(values.accounts), seed: 'book' })
    const page = join(folder, 'impact.html')
    const { run } = await import('../cli/main.ts')
    const { default: pico } = await import('picocolors')
    const began = performance.now()
    const exit = await run(
      [
        'impact',
        changedRates(folder),
        '--old',
        'examples/motor',
        '--book',
        book,
        '--day',
        DAY,
        '--html',
        page,
      ],
      {
        out: text => void process.stdout.write(text.replaceAll(`${folder}/`, '')),
        err: text => void process.stderr.write(text),
        input: process.stdin,
        env: process.env,
        isWatched: process.stderr.isTTY === true,
        colors: pico.createColors(false),
        interrupted: new AbortController().signal,
      },
    )
    if (exit !== 0) throw new Error(`The command exited with ${exit}.`)
    const seconds = (performance.now() - began) / 1_000
    const html = readFileSync(page, 'utf8')
    for (const id of PICTURES) writeFileSync(join(values.out, `impact-${id}.svg`), `${pictureOf(html, id)}\n`)
    const { maxRSS, userCPUTime } = process.resourceUsage()
    console.log(
      `\n${accounts} accounts, ${policies} policies: ${seconds.toFixed(0)} s, ${(policies / seconds).toFixed(0)} policies/s, ${(userCPUTime / 1e6).toFixed(0)} s of CPU, at most ${Math.round(maxRSS / 1024)} MB`,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) await main()
