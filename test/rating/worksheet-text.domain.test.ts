// The worksheet as text, as the documentation shows it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { WorksheetStep } from '../../src/policy/contract/worksheet.ts'
import { figureLines, shareLines, stepLines } from '../../src/policy/worksheet-lines.ts'
import { bindery } from '../cli/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'bindery-worksheet-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('docs/worksheet.md shows the output of bindery price --explain', async () => {
  const product = join(folder, 'bicycle')
  await bindery('new', product)
  const policy = join(product, 'policy.json')
  const { out, exit } = await bindery('price', product, '--policy', policy, '--explain')
  expect(exit).toBe(0)
  const [, shown] = readFileSync('docs/worksheet.md', 'utf8').split(/^\$ npx bindery price .*--explain$/m)
  expect(out.trimEnd()).toBe(shown!.split('```')[0]!.trim())
})

test('bindery price --json --explain prints the worksheet next to the price', async () => {
  const argv = ['price', 'examples/motor', '--policy', 'examples/motor/worked.json', '--json']
  const [explained] = (await bindery(...argv, '--explain')).out
    .split('\n')
    .map(line => line && JSON.parse(line))
  expect(explained.worksheet).toMatchObject({ currency: 'EUR', total: '811.19', isRecorded: false })
  const [plain] = (await bindery(...argv)).out.split('\n').map(line => line && JSON.parse(line))
  expect(plain).not.toHaveProperty('worksheet')
})

const textOf = (lines: ReturnType<typeof stepLines>): string[] =>
  lines.map(({ line, what, value }) => [line, what.trim(), value].filter(Boolean).join(' | '))

describe('The lines of a worksheet', () => {
  const step = (
    line: number,
    kind: WorksheetStep['kind'],
    name: string,
    more: object = {},
  ): WorksheetStep => ({
    line,
    column: 1,
    kind,
    name,
    ...more,
  })

  test('show a value next to the name it was read by, and leave out whole records', () => {
    const steps = [
      step(1, 'read', 'data.policy', { result: '{…}' }),
      step(2, 'read', 'a.value', { result: '100' }),
      step(2, 'read', 'rate', { result: '0.5' }),
      step(2, 'compute', 'times', { input: '100', arguments: ['0.5'], result: '50' }),
      step(3, 'read', 'other'),
      step(3, 'branch', 'if', { result: 'else' }),
      step(4, 'branch', 'for', { result: '2' }),
      step(5, 'set', 'set_year_premium', { input: '50', arguments: [] }),
      step(7, 'read', 'text', { result: 'x', path: 'snippets/part.liquid' }),
    ]
    expect(textOf(stepLines({ source: 'a.liquid', steps, moreSteps: 3 }))).toEqual([
      '2 | 100 (a.value) × 0.5 (rate) | 50',
      '3 | other | –',
      '3 | if: none of its conditions holds',
      '4 | for: 2 turns',
      '5 | set_year_premium 50',
      'part.liquid:7 | text | x',
      '… and 3 more steps',
    ])
  })

  test('show the formula of an amount, whether it was rounded, and the recorded amount', () => {
    const lines = figureLines('premium', {
      yearly: '100',
      added: '2',
      months: '3.5',
      unrounded: '31.1666666',
      amount: '31.17',
      recorded: '30.00',
    })
    expect(textOf(lines)).toEqual([
      'premium: 100 a year × 3.5 ÷ 12 + 2 = 31.1666666, rounded | 31.17',
      'premium as recorded | 30.00',
    ])
    expect(
      textOf(figureLines('premium', { exact: '12.5', months: '12', unrounded: '12.5', amount: '12.50' })),
    ).toEqual(['premium: 12.5 for 12 months | 12.50'])
  })

  test('show what a share is a part of', () => {
    const share = { of: 'premium', from: '120.00', amount: '40.00' } as const
    const shares = [
      { ...share, how: 'share', part: '4', whole: '12' } as const,
      { ...share, of: 'tax', name: 'vat', how: 'rest' } as const,
      { ...share, how: 'plugin' } as const,
    ]
    expect(textOf(shareLines(shares))).toEqual([
      'premium: 120.00 × 4 ÷ 12 | 40.00',
      'tax vat: the rest, 120.00 | 40.00',
      'premium: part of 120.00, as the plugin states | 40.00',
    ])
  })
})
