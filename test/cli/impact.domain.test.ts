import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BOOK, BOOK_END } from '../../cli/offline/book.ts'
import type { BookedPolicy } from '../../src/servicing/impact/book-policy.ts'
import { exampleConfiguration, madeUpBook, policiesOf } from '../servicing/impact/book.ts'
import { bindery, binderyWith } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-impact-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('bindery impact', () => {
  const requests = madeUpBook(12)
  const exported = join(folder, 'book.ndjson')
  const ON_THE_DAY = ['--day', '2026-10-01']
  let policies: BookedPolicy[]

  const bookOf = (lines: readonly object[]): string => lines.map(line => `${JSON.stringify(line)}\n`).join('')
  const linesOf = (list: readonly BookedPolicy[]) => [
    { kind: BOOK, tenantLocator: 'x', after: 0, exportedAt: 0 },
    ...list.map(policy => ({ kind: 'policy', policy })),
    { kind: BOOK_END, policies: list.length },
  ]

  beforeAll(async () => {
    policies = await policiesOf(requests, await exampleConfiguration('motor'))
    writeFileSync(exported, bookOf(linesOf(policies)))
  })

  test('shows totals and who pays more, and shows the same for an exported book as for its requests', async () => {
    const { exit, out } = await bindery(
      'impact',
      'examples/motor',
      '--book',
      requests,
      '--old',
      'examples/motor',
      ...ON_THE_DAY,
    )
    expect(exit).toBe(0)
    expect(out).toMatch(/^Policies in force on 2026-10-01, each for the term after its current one\.\n/)
    expect(out).toMatch(/\ntotal +[\d,.]+ +[\d,.]+ +0\.00 +0\.00 %\n/)
    expect(out).toMatch(
      /\n\d+ policies compared: 0 \(0\.0 %\) pay more, 0 \(0\.0 %\) less, \d+ \(100\.0 %\) the same\n/,
    )
    const again = await bindery(
      'impact',
      'examples/motor',
      '--book',
      exported,
      '--old',
      'examples/motor',
      ...ON_THE_DAY,
    )
    expect(again.out).toBe(out)
  })

  test('--csv writes rows of policies that add up to the totals, and --html a page of charts', async () => {
    const [csv, html] = [join(folder, 'rows.csv'), join(folder, 'page.html')]
    const { out } = await bindery(
      ...['impact', 'examples/motor', '--book', exported, ...ON_THE_DAY],
      ...['--csv', csv, '--html', html, '--by', 'region_class,vehicle.usage', '--json'],
    )
    const { ok, totals } = JSON.parse(out)
    expect(ok).toBe(true)
    expect(Object.keys(totals.groups)).toEqual(['region_class', 'vehicle.usage'])
    const [head, ...rows] = readFileSync(csv, 'utf8')
      .trimEnd()
      .split('\r\n')
      .map(line => line.split(','))
    expect(rows).toHaveLength(totals.compared.policies)
    const sum = (name: string): number =>
      Math.round(rows.reduce((all, row) => all + 100 * Number(row[head!.indexOf(name)]), 0))
    expect([sum('old_total'), sum('new_total'), sum('change')]).toEqual([
      totals.old.total,
      totals.new.total,
      totals.new.total - totals.old.total,
    ])
    expect(readFileSync(html, 'utf8')).toContain('id="group-region_class"')
  })

  test('rejects an incomplete book, another kind of file and a wrong line, with the place', async () => {
    const fileOf = (name: string, text: string): string => {
      const file = join(folder, name)
      writeFileSync(file, text)
      return file
    }
    const whole = bookOf(linesOf(policies.slice(0, 2)))
    for (const [file, says] of [
      [fileOf('cut', whole.split('\n').slice(0, 2).join('\n')), 'is incomplete'],
      [fileOf('torn', whole.slice(0, -60)), 'is not a JSON object'],
      [fileOf('other', '{"kind": "other"}\n'), "the first line must have the kind 'bindery.book'"],
      [fileOf('one', '{\n  "policy": {}\n}\n'), ':1: This is not a book'],
      [fileOf('requests', '[\n  { "policy": {} }\n]\n'), 'Entry 1 is not an account of a migration'],
      [fileOf('cut-requests', '[{"accountData": {"id": "a"}, '), 'cut-requests is not a migration request'],
      [
        fileOf('wrong-requests', '[{"accountData": {"id" "a"}}]'),
        'wrong-requests is not a migration request',
      ],
      [fileOf('text', 'policies'), 'text is not a migration request'],
      [fileOf('empty', ''), 'is empty'],
      [
        fileOf('wrong', bookOf([linesOf([])[0]!, { kind: 'policy', policy: { locator: 'x' } }])),
        ':2: The policy cannot be read: productName',
      ],
    ] as const) {
      const { exit, err } = await bindery('impact', 'examples/motor', '--book', file)
      expect([file, exit, err]).toEqual([file, 1, expect.stringContaining(says)])
    }
  })

  test('exits with 2 for wrong options', async () => {
    for (const [more, says] of [
      [['--at', 'noon'], "--at must be 'renewal' or 'day'."],
      [['--day', 'tomorrow'], "'tomorrow' is not a day"],
      [['--by', 'region_clas'], "Did you mean 'region_class'?"],
      [['--old', join(folder, 'nowhere')], 'is neither a folder, nor a file'],
    ] as const) {
      const { exit, err } = await bindery('impact', 'examples/motor', '--book', exported, ...more)
      expect([exit, err]).toEqual([2, expect.stringContaining(says)])
    }
    const { exit, err } = await bindery('impact', 'examples/motor', '--book', join(folder, 'nothing'))
    expect([exit, err]).toEqual([2, expect.stringContaining('There is no book')])
  })

  test('counts accounts that cannot be read, with their reason', async () => {
    const accounts = [
      { accountData: { id: 'A' }, policies: [{ id: 'P1', productName: 'no_such', terms: [] }] },
    ]
    const file = join(folder, 'accounts.json')
    writeFileSync(file, JSON.stringify(accounts))
    const { out } = await bindery('impact', 'examples/motor', '--book', file, '--json')
    const { totals } = JSON.parse(out)
    expect(totals).toMatchObject({ policies: 1, unpriced: 1 })
    expect(Object.keys(totals.reasons)).toEqual([expect.stringMatching(/^book: .*no_such/)])
  })

  test('exits with 130 on Ctrl-C', async () => {
    const interruption = new AbortController()
    interruption.abort()
    const { exit } = await binderyWith(
      { interrupted: interruption.signal },
      'impact',
      'examples/motor',
      '--book',
      exported,
    )
    expect(exit).toBe(130)
  })
})
