// Lengths, colours and variables of CSS.
import { describe, expect, test } from 'vitest'
import { declarationsOf } from '../declarations.ts'
import { readHtml } from '../html.ts'
import { ConversionBudget } from '../limits.ts'
import { declarationsFor, readSheets } from '../sheet.ts'
import { colourOf, lengthOf, partOf } from '../values.ts'

describe('calc()', () => {
  test.each([
    ['calc(4px + 4px)', 6],
    ['calc(2em - 4pt)', 16],
    ['calc((1in + 36pt) * 2)', 216],
    ['calc(2 * (10pt + 1pt) / 4)', 5.5],
    ['-webkit-calc(10pt + 2pt)', 12],
    ['calc(calc(1pt + 1pt) + 1pt)', 3],
    ['calc(10pt+2pt)', undefined],
    ['calc(10pt + 2)', undefined],
    ['calc(10pt / 0)', undefined],
    ['calc(10pt / 2pt)', undefined],
    ['calc(50% - 6px)', undefined],
    ['calc(10pt + 2furlong)', undefined],
    ['calc(10pt', undefined],
    [`calc(${'('.repeat(1_900)}`, undefined],
  ])('%s is %s points', (text, points) => expect(lengthOf(text, 10)).toBe(points))

  test('a part of the room less a length', () => {
    expect(partOf('calc(50% - 6px)', 10)).toEqual({ percent: 50, points: -4.5 })
    expect(partOf('calc(100% / 3)', 10)!.percent).toBeCloseTo(33.3333, 4)
  })
})

test.each([
  ['#0f08', '#77ff77'],
  ['#00000080', '#7f7f7f'],
  ['hsl(210, 70%, 30%)', '#174d82'],
  ['hsl(0 100% 50% / 50%)', '#ff8080'],
  ['hsla(120, 100%, 25%, 0)', undefined],
  ['currentcolor', undefined],
])('the colour %s is %s', (text, colour) => expect(colourOf(text)).toBe(colour))

test.each([
  ['background: url(x.png) no-repeat #123456', '#123456'],
  ['background: no-repeat center / cover url("a b.png")', 'transparent'],
  ['background: #fff url(data:image/png;base64,AA==)', '#ffffff'],
  ['background: linear-gradient(90deg, #000000, #202020)', '#101010'],
  ['background: -webkit-linear-gradient(left, rgb(0, 0, 0) 0%, rgb(64, 0, 0) 100%) #ff0000', '#200000'],
  ['background-color: #fff; background-image: linear-gradient(red, red)', '#ff0000'],
  ['background-color: #123456; background-image: url(x.png)', '#123456'],
])('%s has the colour %s', (text, colour) =>
  expect(declarationsOf(text).plain.get('background-color')).toBe(colour),
)

test.each([
  ['flex: 1', '1', '0'],
  ['flex: 0 0 30%', '0', '30%'],
  ['flex: 2 1 0', '2', '0'],
  ['flex: 1 1 calc(50% - 10px)', '1', 'calc(50% - 10px)'],
  ['flex: auto', '1', 'auto'],
  ['flex: none', '0', 'auto'],
  ['flex: 200px', '1', '200px'],
])('%s grows by %s from %s', (text, growth, basis) => {
  const { plain } = declarationsOf(text)
  expect([plain.get('flex-grow'), plain.get('flex-basis')]).toEqual([growth, basis])
})

test.each([
  ['font: bold small Arial', 'small', undefined, 'Arial'],
  ['font: italic 10pt/1.4 "A B", serif', '10pt', '1.4', '"A B", serif'],
  ['font: 12px/normal Arial', '12px', 'normal', 'Arial'],
])('%s', (text, size, height, family) => {
  const { plain } = declarationsOf(text)
  expect([plain.get('font-size'), plain.get('line-height'), plain.get('font-family')?.trim()]).toEqual([
    size,
    height,
    family,
  ])
})

test('a semicolon within quotes does not end a declaration, and an open quote ends with its line', () => {
  const { plain } = declarationsOf(`content: "a;b"; color: red;\nfont-family: 'Arial;\nwidth: 4pt`)
  expect(Object.fromEntries(plain)).toEqual({
    content: '"a;b"',
    color: 'red',
    'font-family': "'Arial",
    width: '4pt',
  })
})

describe('variables', () => {
  const declared = (sheet: string, html = '<div><p>x</p></div>') => {
    const budget = new ConversionBudget()
    const read = readSheets([sheet], budget, 482)
    const all = [readHtml(html).body]
    while (typeof all.at(-1)!.children[0] === 'object') all.push(all.at(-1)!.children[0] as (typeof all)[0])
    return { last: declarationsFor(all.at(-1)!, read, budget), budget }
  }
  test.each([
    [':root { --a: #123456 } p { color: var(--a) }', 'color', '#123456'],
    [':root { --a: red } div { --a: blue } p { color: var(--a) }', 'color', 'blue'],
    ['p { color: var(--none, green) }', 'color', 'green'],
    ['p { color: var(--none, var(--other, calc(1px))) }', 'color', 'calc(1px)'],
    [':root { --w: 2px; --b: var(--w) solid blue } p { border: var(--b) }', 'border-top-width', '2px'],
    [':root { --p: 1pt 2pt } p { padding: var(--p) }', 'padding-left', '2pt'],
    ['p { border: 1px solid var(--none, red); border-top-color: blue }', 'border-top-color', 'blue'],
    [':root { --Case: 1pt } p { width: var(--case, 2pt) }', 'width', '2pt'],
    [':root { --a: var(--b); --b: var(--a) } p { width: var(--a, 3pt) }', 'width', '3pt'],
    ['p { --own: 4pt; width: calc(var(--own) * 2) }', 'width', 'calc(4pt * 2)'],
    ['div { --a: red !important } div { --a: blue } p { color: var(--a) }', 'color', 'red'],
  ])('%s', (sheet, name, value) => expect(declared(sheet).last.get(name)).toBe(value))

  test('variables that double each other have no value once they are long', () => {
    const doubled = Array.from({ length: 40 }, (_, at) => `--v${at + 1}: var(--v${at}) var(--v${at});`).join(
      '',
    )
    const { last } = declared(`:root { --v0: x; ${doubled} } p { content: var(--v40, "no") }`)
    expect(last.get('content')).toBe('"no"')
  })
})

test.each([
  ['@media print', true],
  ['@MEDIA PRINT', true],
  ['@media screen, print', true],
  ['@media only print', true],
  ['@media all and (min-width: 100px)', true],
  ['@media not screen', true],
  ['@media screen', false],
  ['@media not print', false],
  ['@media not all', false],
  ['@media (min-width: 100px)', true],
  ['@media (min-width: 642px)', true],
  ['@media (min-width: 643px)', false],
  ['@media (max-width: 600px)', false],
  ['@media (min-width: 400px) and (max-width: 50em)', true],
  ['@media print and (max-width: 600px)', false],
  ['@media screen and (min-width: 100px)', false],
  ['@media (prefers-color-scheme: dark)', false],
])('on pages with a text of 482 points (642.7 px), %s applies: %s', (media, applies) => {
  const { rules } = readSheets([`${media} { p { color: red } }`], new ConversionBudget(), 482)
  expect(rules).toHaveLength(applies ? 1 : 0)
})

test.each([
  ['min(30pt, 2em)', 20],
  ['max(30pt, 2em)', 30],
  ['clamp(10pt, 8pt, 12pt)', 10],
  ['clamp(10pt, 50pt, 12pt)', 12],
  ['calc(min(4pt, 6pt) * 2 + 1pt)', 9],
  ['min(4pt)', 4],
  ['min()', undefined],
  ['min(4pt, 2)', undefined],
  ['clamp(1pt, 2pt)', undefined],
  ['calc(1pt, 2pt)', undefined],
])('%s is %s points', (text, points) => expect(lengthOf(text, 10)).toBe(points))

test('min() of a percentage and a length takes the one that is less in a room of 500 points', () => {
  expect(partOf('min(100%, 400pt)', 10)).toEqual({ percent: 0, points: 400 })
  expect(partOf('min(50%, 400pt)', 10)).toEqual({ percent: 50, points: 0 })
})
