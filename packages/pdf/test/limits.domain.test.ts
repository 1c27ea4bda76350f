// What the renderer rejects, with its limits and messages, and what it accepts.
import { expect, test } from 'vitest'
import { processorClock } from '../../../test/support/scaling.ts'
import { size } from '../../../test/support/sizes.ts'
import { CONVERSION_LIMITS, ConversionBudget } from '../limits.ts'
import { PIXEL } from './fixtures.ts'
import { packedZeros, pngAddress } from './png-files.ts'
import { render } from './tools.ts'

const image = (address: string): string => `<img src="${address}">`
const pngOf = (width: number, height: number): string =>
  pngAddress(width, height, 2, packedZeros(height * (1 + 3 * width)))

/** Elements of one kind that differ, so that the parser opens all of them again in every paragraph. */
const bolds = (count: number): string => Array.from({ length: count }, (_, at) => `<b a${at}>`).join('')

const times = (count: number, text: string): string => text.repeat(count)

test.each([
  ['elements', times(CONVERSION_LIMITS.elements + 1, '<br>'), '6000 elements'],
  ['characters', times(CONVERSION_LIMITS.characters + 1, 'x'), '400000 characters of text'],
  ['depth', times(120, '<div>'), '100 levels of nested elements'],
  ['rules', `<style>${times(1_001, 'p{color:red}')}</style>`, '1000 style rules'],
  ['fonts', `<style>${times(1_001, '@font-face{font-family:a;src:url(a)}')}</style>`, '1000 style rules'],
  [
    'matches',
    `<style>${times(900, 'a b c d e f{color:red}')}</style>${times(60, '<f>')}${times(5_000, '<f></f>')}`,
    'comparisons of elements with selectors',
  ],
  ['columns', `<table><tr>${times(61, '<td>x</td>')}</tr></table>`, '60 columns'],
  ['cells', `<table>${times(201, '<tr><td colspan="60">x')}</table>`, '12000 cells'],
  ['elements that the parser makes itself', `<p>${bolds(60)}</p>${times(150, '<p>x</p>')}`, '6000 elements'],
  ['cells of a table', `<table>${times(1_000, `<tr>${times(1_000, '<td>x')}`)}</table>`, '6000 elements'],
  ['tables within tables', times(1_000, '<table><tr><td>'), '100 levels of nested elements'],
  ['attributes', `<p ${Array.from({ length: 300_000 }, (_, at) => `a${at}`).join(' ')}>`, '200 attributes'],
  ['pages', times(1_001, '<p style="page-break-after:always">x'), '1000 pages'],
  ['pages of huge letters', `<p style="font-size:300pt">${times(12_000, 'x ')}`, '1000 pages'],
  [
    'elements of headers',
    `<bindery-header>${times(400, '<b>x</b>')}</bindery-header>${times(200, '<p style="page-break-after:always">x')}`,
    '50000 elements of headers',
  ],
  ['images', Array.from({ length: 201 }, (_, at) => image(pngOf(1, at + 1))).join(''), '200 images'],
  ['pixels', image(pngAddress(10_000, 10_001, 2, packedZeros(10))), '100000000 pixels in one image'],
  [
    'pixels to unpack',
    image(pngAddress(3_000, 3_000, 6, packedZeros(10))),
    '8000000 pixels in PNGs that are transparent',
  ],
  ['bytes in a PNG', image(pngAddress(10, 10, 2, Buffer.alloc(4_000_001))), '4000000 bytes in one PNG'],
  ['bytes of images', image(`data:image/jpeg;base64,${times(13_400_000, 'A')}`), '10000000 bytes of images'],
  ['header', `<bindery-header>${times(501, '<b>x</b>')}</bindery-header>`, '500 elements in a header'],
])('rejects too many %s, with the limit in the message', async (_, html, message) => {
  await expect(render(html)).rejects.toThrow(message)
})

test('parses a length of 40,000 digits without noticeable delay', async () => {
  const digits = '1'.repeat(40_000)
  const taken = processorClock()
  await render(`<table cellpadding="${digits}-" border="${digits}-"><tr><td>x</table>`)
  expect(taken()).toBeLessThan(5_000)
})

test('rejects a header that leaves no room for the text', async () => {
  await expect(render(`<bindery-header>${times(60, '<p>x</p>')}</bindery-header>text`)).rejects.toThrow(
    'no room',
  )
})

const drawing = (content: string): string => `<svg width="10" height="10">${content}</svg>`

test.each([
  ['one from many', drawing('<defs><g id="a"><rect/></g></defs><use href="#a"/>'), 'contains <use>'],
  ['one from elsewhere', drawing('<image href="https://example.com/a.png"/>'), 'contains <image>'],
  ['too many elements', drawing(times(6_001, '<rect/>')), '6000 elements'],
  ['too deep ones', drawing(times(120, '<g>')), '100 levels of nested elements'],
  ['too long a path', drawing(`<path d="${times(600_000, 'M')}"/>`), '500000 characters in one drawing'],
  ['no size', '<svg><rect/></svg>', 'has no size'],
  [
    'too many elements in a file',
    image(`data:image/svg+xml,<svg>${times(6_001, '<g></g>')}</svg>`),
    '6000 elements',
  ],
])('rejects a drawing with %s', async (_, html, message) => {
  await expect(render(html)).rejects.toThrow(message)
})

test.each([
  [
    'gradients that lead to each other',
    '<defs><linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/></defs><rect width="9" height="9" fill="url(#a)"/>',
  ],
  [
    'a clip that is its own',
    '<clipPath id="a" clip-path="url(#a)"><rect/></clipPath><rect clip-path="url(#a)" width="9" height="9"/>',
  ],
  [
    'nonsense',
    '<path d="M x y z 1e999 L"/><rect width="-1" height="NaN" transform="rotate(("/><text>&nbsp;<tspan>x',
  ],
])('renders or rejects a drawing with %s without running forever', async (_, content) => {
  const outcome = await render(drawing(content)).catch(problem => problem)
  if (!(outcome instanceof Uint8Array)) expect(outcome.name).toBe('ConversionError')
})

test('the message about an image has its number, its alt and the beginning of its address', async () => {
  const html = `<img src="${PIXEL}"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="Logo">`
  await expect(render(html)).rejects.toThrow(
    "It is image 2 of the document with the alt 'Logo': data:image/gif;base64,R0lGODlhAQABAAAAACw=",
  )
})

test('the style sheets of a drawing have a limit, and their rules count for each element', async () => {
  const drawn = (rules: number, elements: number) =>
    `<svg width="9" height="9"><style>${'.a{fill:red}'.repeat(rules)}</style>${'<g></g>'.repeat(elements)}</svg>`
  await expect(render(drawn(2_000, 1))).rejects.toThrow('style sheets of more than 20000 characters')
  await expect(render(drawn(1_500, 100))).resolves.toBeInstanceOf(Uint8Array)
  const named = `<svg width="9" height="9"><style>${'.a,.a{}'.repeat(2_800)}</style>${'<g></g>'.repeat(2_000)}</svg>`
  await expect(render(named)).rejects.toThrow('more than 10000000 comparisons of elements with selectors')
})

test('rejects an image that is neither PNG nor JPEG', async () => {
  await expect(render('<img src="data:image/png;base64,AAAA">')).rejects.toThrow(
    'neither a PNG or JPEG in base64 nor an SVG',
  )
  await expect(render('<img src="data:image/svg+xml,<p>x">')).rejects.toThrow(
    'neither a PNG or JPEG in base64 nor an SVG',
  )
})

test.each([
  [
    'holds far more than it says',
    pngAddress(10, 10, 6, packedZeros(300_000_000)),
    'pixel data of a PNG does not match its size',
  ],
  [
    'holds less than it says',
    pngAddress(100, 100, 6, packedZeros(10)),
    'pixel data of a PNG does not match its size',
  ],
  [
    'cannot be unpacked',
    pngAddress(10, 10, 6, Buffer.from('nonsense')),
    'pixel data of a PNG does not match its size',
  ],
  ['breaks off', pngAddress(10, 10, 2, packedZeros(410)).slice(0, -20), 'is damaged'],
])('rejects a PNG that %s', async (_, address, message) => {
  await expect(render(image(address))).rejects.toThrow(message)
})

test('renders a PNG with transparency', async () => {
  expect((await render(image(pngAddress(10, 10, 6, packedZeros(410))))).length).toBeGreaterThan(1_000)
})

test.each([
  ['nothing', ''],
  ['columns that share what is too little', times(60, '<div style="width:99%">')],
  ['a million semicolons', `<p style="${times(1_000_000, ';')}">x`],
  ['parentheses that nothing closes', `<p style="${times(100_000, 'a:b(;')}">x`],
  ['media queries within one another', `<style>${times(50_000, '@media print{')}</style>x`],
  ['blanks without end', `<style>p${times(500_000, ' ')}q{color:a${times(500_000, ' ')}b}</style><p>x`],
  ['a word of 300,000 letters', times(300_000, 'x')],
  [`a paragraph of ${size('15,000', '60,000')} words`, times(size(15_000, 60_000), 'word ')],
  ['boxes within boxes', `${times(45, '<div style="border:1pt solid red;padding:1pt">')}deep`],
  ['tables within tables', `${times(20, '<table><tr><td>')}deep`],
  ['lists within lists', `${times(40, '<ul><li>x')}deep`],
  ['spans that reach out of the table', '<table><tr><td rowspan="9999" colspan="50">x</td></tr></table>'],
  ['broken spans', '<table><tr><td colspan="-1" rowspan="x">x<td colspan="1.5">y</table>'],
  [
    'nonsense styles',
    '<p style="margin:;color:#ggg;font-size:-1pt;width:calc(1px);:;;">x</p><style>}{p{</style>',
  ],
  ['huge sizes', '<p style="font-size:9999pt;margin:99999pt;line-height:9999">x</p>'],
  ['a word longer than a line', times(3_000, 'x')],
  ['a cell higher than a page', `<table><tr><td>${times(3_000, 'word ')}</td></tr></table>`],
])('renders %s as a PDF', async (_, html) => {
  expect((await render(html)).length).toBeGreaterThan(500)
})

test.each([
  ['generated content', `<style>p::before{content:"${times(950, '\\"')}}</style>${times(2_500, '<p>x')}`],
  [
    'margin boxes',
    `<style>${times(30, `@page{${times(20, `@top-left{content:"${times(950, '\\"')}}`)}}`)}</style>x`,
  ],
  [
    'names of fonts',
    `<style>${times(900, `@font-face{font-family:a;src:url(a${times(1_900, ' ')}b"c)}`)}</style>x`,
  ],
  ['blanks before the end of a paragraph', `<p style="white-space:pre-wrap">${times(100_000, ' ')}x`],
])('spends little time on quotation marks and blanks that never end: %s', async (_, html) => {
  const spent = processorClock()
  await render(html).catch(() => undefined)
  // Each would take more than 5 s if every quotation mark or blank were searched to the end of its text.
  expect(spent()).toBeLessThan(4_000)
})

test('a layout that is to be repeated fails as soon as its repetition would exceed the limit', () => {
  const budget = new ConversionBudget()
  budget.count('steps', 100)
  budget.isRepeated = true
  budget.count('elements', 6_000)
  budget.count('steps', 149_950)
  expect(() => budget.count('steps')).toThrow('300000 words and blocks')
  expect(budget.work).toBe(100 + 6_000 + 149_951)
})
