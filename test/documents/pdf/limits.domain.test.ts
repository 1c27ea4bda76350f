// What the renderer refuses, by count and with words, and what it bears.
import { expect, test } from 'vitest'
import { CONVERSION_LIMITS } from '../../../src/documents/pdf/limits.ts'
import { render } from './tools.ts'

const times = (count: number, text: string): string => text.repeat(count)

test.each([
  ['elements', times(CONVERSION_LIMITS.elements + 1, '<br>'), '6000 elements'],
  ['characters', times(CONVERSION_LIMITS.characters + 1, 'x'), '400000 characters of text'],
  ['depth', times(120, '<div>'), '100 elements within one another'],
  ['rules', `<style>${times(1_001, 'p{color:red}')}</style>`, '1000 style rules'],
  [
    'matches',
    `<style>${times(900, 'a b c d e f{color:red}')}</style>${times(60, '<f>')}${times(5_000, '<f></f>')}`,
    'comparisons of elements with selectors',
  ],
  ['columns', `<table><tr>${times(61, '<td>x</td>')}</tr></table>`, '60 columns'],
  [
    'pixels',
    `<img src="data:image/png;base64,${Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.from('00004e2000004e2008060000000000000000', 'hex')]).toString('base64')}">`,
    '12000000 pixels in one image',
  ],
  ['header', `<bindery-header>${times(501, '<b>x</b>')}</bindery-header>`, '500 elements in a header'],
])('too many %s are refused with the limit', async (_, html, message) => {
  await expect(render(html)).rejects.toThrow(message)
})

test('a header that leaves no room for the text is refused', async () => {
  await expect(render(`<bindery-header>${times(60, '<p>x</p>')}</bindery-header>text`)).rejects.toThrow(
    'no room',
  )
})

test('a picture that is no picture is refused', async () => {
  await expect(render('<img src="data:image/png;base64,AAAA">')).rejects.toThrow('neither PNG nor JPEG')
  await expect(render('<img src="data:image/svg+xml,<svg/>">')).rejects.toThrow('neither PNG nor JPEG')
})

test.each([
  ['nothing', ''],
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
])('%s makes a PDF', async (_, html) => {
  expect((await render(html)).length).toBeGreaterThan(500)
})
