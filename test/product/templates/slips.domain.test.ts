// Slips that people make in templates, planted at every place in the templates of both examples where each is possible. A
// template with a slip either prints what it printed before, with a warning, or is rejected with what to write instead.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileTemplate } from '../../../src/product/templates/liquid.ts'
import { timesAsLong } from '../../support/scaling.ts'
import { size } from '../../support/sizes.ts'
import { environment } from './rendering.ts'

const TEMPLATES = ['motor', 'home'].flatMap(example => {
  const folder = `examples/${example}/configuration`
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.liquid'))
    .map(path => ({ path: join(example, path), source: readFileSync(join(folder, path), 'utf8') }))
})

const characteristics = [
  { field_values: { region: 'FL', vehicle_value: '30000' }, start_timestamp: 1, premium: 5 },
]
const DATA = {
  policy: { display_id: '100000128', characteristics, exposures: [{ name: 'vehicle', characteristics }] },
  policyholder: { entity: { values: { first_name: 'Ada', company_name: 'Ada & Co' } } },
  policy_characteristics: characteristics[0],
  exposure_characteristics: characteristics[0],
  peril_characteristics: characteristics[0],
  invoice: { display_id: '7', total_due: '12.50' },
}

type Compiled = ReturnType<typeof compileTemplate>
const compiledFrom = (source: string): Compiled => compileTemplate({ path: 'p', source })
const findingsOf = (source: string): Compiled['findings'] => compiledFrom(source).findings

/** Returns what the template prints and records, or the message with which it fails. */
function outcome({ template }: Compiled): unknown {
  if (!template) return undefined
  try {
    return JSON.stringify(template.render(DATA, environment))
  } catch (problem) {
    return (problem as Error).message
  }
}

const TAGS = /\{%-?\s*(?!end|else|comment|raw|#)\w+[^%]*?%\}/g
const MARKUP = /\{%-?\s*(?!end|else|comment|raw|#)\w+[^%]*?%\}|\{\{[^{}]*\}\}/g

/**
 * Yields the source with the slip at one place at a time: in each match of `where` that `slip` changes. In the small size, only
 * at every third place.
 */
function* planted(source: string, where: RegExp, slip: (text: string) => string): Generator<string> {
  let place = 0
  for (const match of source.matchAll(where)) {
    const text = slip(match[0])
    if (text !== match[0] && place++ % size(3, 1) === 0)
      yield source.slice(0, match.index) + text + source.slice(match.index + match[0].length)
  }
}

const PATH = /\b[a-z_]\w*(?:\.\w+|\[[\w.]+\])+/
/** Changes the first path outside of quotes to another form. */
const withPath = (form: string) => (text: string) => {
  let isDone = false
  return OUTSIDE_QUOTES(text, part => {
    if (isDone || !PATH.test(part)) return part
    isDone = true
    return part.replace(PATH, form)
  })
}
const OUTSIDE_QUOTES = (text: string, change: (part: string) => string): string =>
  text.replace(
    /("[^"]*"|'[^']*')|([^"']+)/g,
    (_, quoted?: string, plain?: string) => quoted ?? change(plain!),
  )

describe('a slip with only one possible meaning', () => {
  test.each([
    ['output braces around a name in a tag', TAGS, withPath('{{$&}}'), 'bracesInMarkup'],
    ['spaced braces', TAGS, withPath('{{ $& }}'), 'bracesInMarkup'],
    ['closing braces alone', TAGS, withPath('$&}}'), 'bracesInMarkup'],
    ['opening braces alone', TAGS, withPath('{{$&'), 'bracesInMarkup'],
    ['single braces', MARKUP, withPath('{$&}'), 'bracesInMarkup'],
    ['a brace too many before a tag', TAGS, (tag: string) => `{${tag}`, 'extraBrace'],
    ['three braces around an output', /\{\{[^{}]*\}\}/g, (text: string) => `{${text}}`, 'extraBrace'],
    [
      'quotes as entities',
      MARKUP,
      (text: string) => text.replace(/"([^"]*)"/, '&quot;$1&quot;'),
      'htmlEntity',
    ],
    [
      '> as an entity',
      TAGS,
      (tag: string) => OUTSIDE_QUOTES(tag, part => part.replace(/(?<!<)>/, '&gt;')),
      'htmlEntity',
    ],
    [
      'a hard blank as an entity',
      TAGS,
      (tag: string) => OUTSIDE_QUOTES(tag, part => part.replace(/\b /, '&nbsp;')),
      'htmlEntity',
    ],
    [
      'a byte-order mark',
      MARKUP,
      (text: string) => OUTSIDE_QUOTES(text, part => part.replace(/\b /, '\uFEFF ')),
      'invisibleCharacter',
    ],
    ['curly quotes', MARKUP, (text: string) => text.replace(/"([^"]*)"/, '“$1”'), 'curlyQuote'],
    ['low curly quotes', MARKUP, (text: string) => text.replace(/"([^"]*)"/, '„$1“'), 'curlyQuote'],
  ] as const)('is corrected, with one warning: %s', (_, where, slip, code) => {
    let places = 0
    for (const { path, source } of TEMPLATES) {
      const meant = outcome(compiledFrom(source))
      for (const mutated of planted(source, where, slip)) {
        places += 1
        const compiled = compiledFrom(mutated)
        const found = compiled.findings
        expect(found, `${path}: ${JSON.stringify(found)}`).toMatchObject([{ severity: 'WARNING', code }])
        expect(outcome(compiled), path).toEqual(meant)
      }
    }
    expect(places).toBeGreaterThan(size(5, 10))
  })

  test.each([
    ['tabs for blanks', (text: string) => OUTSIDE_QUOTES(text, part => part.replaceAll(' ', '\t'))],
    ['line ends for blanks', (text: string) => OUTSIDE_QUOTES(text, part => part.replace(/\b /g, '\r\n'))],
    ['hard blanks', (text: string) => OUTSIDE_QUOTES(text, part => part.replaceAll(' ', '\u00A0'))],
    ['no blanks at the ends', (text: string) => text.replace(/^(\{.)\s+/, '$1').replace(/\s+(.\})$/, '$1')],
  ] as const)('is corrected without a warning: %s', (_, slip) => {
    for (const { path, source } of TEMPLATES) {
      const meant = outcome(compiledFrom(source))
      for (const mutated of planted(source, MARKUP, slip)) {
        const compiled = compiledFrom(mutated)
        expect(compiled.findings, path).toEqual([])
        expect(outcome(compiled), path).toEqual(meant)
      }
    }
  })
})

describe('a slip with several possible meanings', () => {
  test.each([
    [
      '= for ==',
      TAGS,
      (tag: string) => (/^\{%-?\s*(?:if|elsif|unless)/.test(tag) ? tag.replace('==', '=') : tag),
      /Write '==' to compare\./,
    ],
    ['&& for and', TAGS, (tag: string) => tag.replace(' and ', ' && '), /Write 'and'\./],
    ['|| for or', TAGS, (tag: string) => tag.replace(' or ', ' || '), /Write 'or'\./],
    ['=> for >=', TAGS, (tag: string) => tag.replace('>=', '=>'), /Write '>='\./],
    ['elseif', /\{%-?\s*elsif\b/g, (tag: string) => tag.replace('elsif', 'elseif'), /Write 'elsif'\./],
    ['else if', /\{%-?\s*elsif\b/g, (tag: string) => tag.replace('elsif', 'else if'), /Write 'elsif'\./],
    [
      'upper case',
      /\{%-?(?!\s*(?:end)?(?:comment|raw))\s*\w+/g,
      (tag: string) => tag.toUpperCase(),
      /Write '[a-z]+': tags are in lower case\./,
    ],
    ['an end left out', /\{%-?\s*end(?!case|comment|raw)\w+\s*-?%\}/g, () => '', /Add '\{% end\w+ %\}'\./],
    ['end alone', /\{%-?\s*end(?!comment|raw)\w+\s*-?%\}/g, () => '{% end %}', /such as 'endif'\./],
    [
      'a closing quote left out',
      TAGS,
      (tag: string) => tag.replace(/"([^"]*)"(?![^"]*")/, '"$1'),
      /Add the " at its end\./,
    ],
    ['! for unless', /\{% if [^%]*%\}/g, (tag: string) => tag.replace('if ', 'if !'), /Write 'unless'/],
    ['not for unless', /\{% if [^%]*%\}/g, (tag: string) => tag.replace('if ', 'if not '), /Write 'unless'/],
  ] as const)('is an error that says what to write: %s', (_, where, slip, advice) => {
    let places = 0
    for (const { path, source } of TEMPLATES)
      for (const mutated of planted(source, where, slip)) {
        places += 1
        const errors = findingsOf(mutated).filter(({ severity }) => severity === 'ERROR')
        expect(
          errors.some(({ message }) => advice.test(message)),
          `${path}: ${JSON.stringify(errors)}`,
        ).toBe(true)
      }
    expect(places).toBeGreaterThan(0)
  })

  test('is at least a warning with its line if a brace is missing', () => {
    const slips = [
      [/\{\{[^{}]*\}\}/g, (text: string) => text.slice(0, -1)],
      [/\{\{ (?:\w+\.)+\w+(?: \|[^{}]*)? \}\}/g, (text: string) => text.slice(1)],
      [TAGS, (tag: string) => `${tag.slice(0, -2)}}`],
      [TAGS, (tag: string) => `{ ${tag.slice(1)}`],
    ] as const
    for (const { path, source } of TEMPLATES)
      for (const [where, slip] of slips)
        for (const mutated of planted(source, where, slip)) {
          const codes = findingsOf(mutated).map(({ code, line }) => line && code)
          expect(
            codes.some(code => /^(markupNot(Opened|Closed)|templateUnreadable)$/.test(code as string)),
            `${path}: ${codes} ${mutated}`,
          ).toBe(true)
        }
  })
})

describe('sound templates', () => {
  test('of the examples have no warnings', () => {
    for (const { path, source } of TEMPLATES) expect(findingsOf(source), path).toEqual([])
  })

  test.each([
    ['{{ "{{ a }}" }}', '{{ a }}'],
    ["{{ '{%' }}", '{%'],
    ['{% assign a = "{b}" %}{{ a }}', '{b}'],
    ['{{ "“a” &amp; &quot;" }}', '“a” &amp; &quot;'],
    ['<style>@media print { .a { color: red }}</style>', '<style>@media print { .a { color: red }}</style>'],
    ['{{ 1 }}}', '1}'],
    ['{{{ 1 }} }', '1 }'],
    ['{% if true %}}x{% endif %}', '}x'],
    ['{% raw %}{{{ a }}} {% if {{b}} %}{% endraw %}', '{{{ a }}} {% if {{b}} %}'],
    ['{% comment %}{% if {{b}} %}“{% endcomment %}.', '.'],
    ['&quot;{{ 1 }}&quot; “{{ 2 }}”', '&quot;1&quot; “2”'],
  ])('print what they say: %s', (source, printed) => {
    const { template } = compileTemplate({ path: 'p', source })
    expect(template!.render({}, environment)).toMatchObject({ output: printed })
  })

  test('are searched for slips in time proportional to their length', async () => {
    for (const piece of [
      '{{',
      '{{%',
      '{{% }}',
      '{{%a%}',
      '{{{',
      '{% if {{',
      '{% if {{a}} %}',
      '{{ “a” }}',
      "{{ '",
      '{ a.b.c',
      '{ %if ',
    ]) {
      const few = size(2_000, 8_000)
      const [small, large] = [piece.repeat(few), piece.repeat(8 * few)]
      findingsOf(piece.repeat(1_000))
      // If the work were quadratic, it would take 64 times as long.
      const times = await timesAsLong(
        () => findingsOf(small),
        () => findingsOf(large),
        { most: 16, leastMs: size(12, 37) },
      )
      expect(times, piece).toBeLessThan(16)
    }
  })
})
