// Letters of many scripts on a page: those in the service's fonts, those that a configuration's fonts add, and those in no font.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { splitByDirection, wordToDraw } from '../bidi.ts'
import { fontNames, withFonts, withoutFonts } from '../fonts.ts'
import { hasPoppler, rendered, textLines } from './tools.ts'

const mono = (): Uint8Array =>
  new Uint8Array(readFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf'))
const face = (file: string): string => `<style>@font-face { font-family: Own; src: url('${file}') }</style>`

describe('Letters that no font has', () => {
  test('are reported once each, from text, headers and footers', async () => {
    const { missing } = await rendered(
      '<bindery-header>語</bindery-header><p>日本 and 日本</p><bindery-footer>한</bindery-footer>',
    )
    expect([...missing].sort()).toEqual([...'日本語한'].sort())
  })

  test.each([
    'Ελληνικά, Привет, Tiếng Việt, Žluťoučký kůň, Türkçe, Íslenska, Română, Łódź',
    'ქართული, Հայերեն, עברית, العربية, हिन्दी',
    '€ £ ₹ ₺ ₽ ₿ ✓ → ≤ ½ № § ™ “quoted” – — …',
    'joined\u200d, soft\u00adhyphen, left\u200e, variant\ufe0f, no\u00a0break',
  ])('include none of %s', async text => {
    expect((await rendered(`<p>${text}</p>`)).missing).toBe('')
  })
})

describe('A font of the configuration', () => {
  test('is embedded in the PDF when its family is used', async () => {
    const font = new Map([['mono.ttf', mono()]])
    const size = async (html: string): Promise<number> => (await rendered(html, {}, font)).bytes.length
    const without = await size(`${face('mono.ttf')}<p>text</p>`)
    expect(await size(`${face('mono.ttf')}<p style="font-family: Own">text</p>`)).not.toBe(without)
    expect(
      (await rendered(`${face('mono.ttf')}<p style="font: 10pt/1.2 Own">ab</p>`, {}, font)).missing,
    ).toBe('')
  })

  test('is rejected when its file is not a font', async () => {
    const font = new Map([['text.ttf', new TextEncoder().encode('This is no font at all.')]])
    await expect(rendered(`${face('text.ttf')}<p>x`, {}, font)).rejects.toThrow(
      "The font 'text.ttf' cannot be used: it is neither TrueType, OpenType, WOFF nor WOFF2.",
    )
  })

  test('fails only the document that uses it when it is broken', async () => {
    const broken = mono().slice(0, 20_000)
    const html = `${face('mono.ttf')}<p style="font-family:Own">text</p>`
    const problem = await rendered(html, {}, new Map([['mono.ttf', broken]])).catch(one => one)
    expect(problem.name).toBe('ConversionError')
    expect((await rendered('<p>text</p>')).bytes.length).toBeGreaterThan(500)
  })

  test('is extracted as a file again from HTML that embeds it', () => {
    const html = `${face('mono.ttf')}${face('other.woff2')}${face('none.ttf')}<p>url(data:text/plain;base64,eA==)</p>`
    const files = new Map([
      ['mono.ttf', mono()],
      ['other.woff2', new Uint8Array([1, 2, 3])],
    ])
    const taken = withoutFonts(withFonts(html, files))
    expect(taken.html).toBe(
      html.replace("'mono.ttf'", 'embedded-1.ttf').replace("'other.woff2'", 'embedded-2.woff2'),
    )
    expect([...taken.fonts.values()].map(bytes => new Uint8Array(bytes))).toEqual([...files.values()])
  })

  test('is found by its file name in @font-face, but not by a URL or a path', () => {
    expect(
      fontNames(
        '<style>@font-face{src:url("A b.ttf")} @FONT-FACE { font-family: x; src: local(x), url( c.otf ) format("opentype") } @font-face{src:url(https://example.com/d.ttf)} @font-face{src:url(../e.ttf)} p{background:url(f.ttf)}</style>',
      ),
    ).toEqual(['A b.ttf', 'c.otf'])
  })
})

describe('Right-to-left text', () => {
  const cut = (text: string, direction: 'ltr' | 'rtl' | undefined) => {
    const { runs, fromTheRight } = splitByDirection([{ text }], direction)
    return { runs: runs.map(run => [run.text, run.level ?? 0]), fromTheRight }
  }

  test('is split where its direction changes, with numbers and Latin words as separate runs', () => {
    expect(cut('שלום 12 abc', 'rtl')).toEqual({
      runs: [
        ['שלום ', 1],
        ['12', 2],
        [' ', 1],
        ['abc', 2],
      ],
      fromTheRight: true,
    })
  })

  test('is split into words in reading order, with brackets mirrored when a word is drawn', () => {
    expect(cut('שלום (עולם) 42', 'rtl').runs).toEqual([
      ['שלום (עולם) ', 1],
      ['42', 2],
    ])
    expect(wordToDraw('(עולם) ', 1)).toBe(')עולם( ')
    expect(wordToDraw(') — ', 1)).toBe(' — (')
    expect(wordToDraw('(b)', 2)).toBe('(b)')
  })

  test('reverses numbers in Arabic digits before drawing, because the engine reverses them again', () => {
    expect(wordToDraw('١٢٣', 2)).toBe('٣٢١')
    expect(wordToDraw('۱۲-', 2)).toBe('-۲۱')
    expect(wordToDraw('123', 2)).toBe('123')
  })

  test('is recognized by its first letter if no direction is given', () => {
    expect(cut('שלום', undefined).fromTheRight).toBe(true)
    expect(cut('abc שלום', undefined).fromTheRight).toBe(false)
  })

  test.runIf(hasPoppler)('can be found in the PDF as it was written', async () => {
    const { bytes } = await rendered('<p dir="rtl">שלום עולם 12</p><p>مرحبا</p>')
    const text = textLines(bytes).join(' ')
    for (const word of ['שלום', 'עולם', '12']) expect(text).toContain(word)
  })

  test.runIf(hasPoppler).each([
    ['<p dir="rtl">رقم الوثيقة ١٢٣٤٥ في ۹۸۷</p>', ['١٢٣٤٥', '۹۸۷']],
    ['<p>Number ١٢٣٤٥ insured</p>', ['١٢٣٤٥']],
    ['<p dir="rtl">שלום 123 (abc) — פוליסה</p>', ['(abc)']],
    ['<p dir="rtl" style="width: 1cm">١٢٣٤٥٦٧٨٩٠١٢٣٤٥٦٧٨٩٠</p>', ['١٢٣٤ ٥٦٧٨']],
  ])('prints its numbers and brackets in order: %s', async (html, words) => {
    const text = textLines((await rendered(html)).bytes).join(' ')
    for (const word of words) expect(text.replace(/[\u202a-\u202e]/g, '')).toContain(word)
  })
})
