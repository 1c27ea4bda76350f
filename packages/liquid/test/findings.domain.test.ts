import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { partsOf, TemplateError } from '../limits.ts'
import { compileTemplate, environment } from './rendering.ts'

const errors = (source: string) => {
  const { template, findings } = compileTemplate({ path: 'rate.liquid', source })
  expect(template).toBeUndefined()
  return findings.filter(finding => finding.severity === 'ERROR')
}

describe('Templates that cannot be compiled', () => {
  test.each([
    ['brackets', (depth: number) => `{{ data${'[data'.repeat(depth)}${']'.repeat(depth)} }}`],
    ['parentheses', (depth: number) => `{% if ${'('.repeat(depth)}1 == 1${')'.repeat(depth)} %}{% endif %}`],
    ['ranges', (depth: number) => `{% for i in ${'(1..'.repeat(depth)}2${')'.repeat(depth)} %}{% endfor %}`],
  ])('%s nest up to 100 deep', (_, nested) => {
    expect(compileTemplate({ path: 'rate.liquid', source: nested(99) }).findings).toEqual([])
    for (const depth of [100, 7_000])
      expect(errors(nested(depth))).toMatchObject([
        { message: expect.stringContaining('nested deeper than 100'), line: 1 },
      ])
  })

  test('every unknown filter and tag is reported with its line and column', () => {
    expect(errors('{{ 1 | plus: 1 | foo | bar }}\n{% widget %}{% if a | baz %}{% endif %}')).toMatchObject([
      { code: 'unknownFilter', line: 1, column: 18, path: 'rate.liquid' },
      { code: 'unknownFilter', line: 1, column: 24 },
      { code: 'unknownTag', line: 2, column: 1 },
      { code: 'unknownFilter', line: 2, column: 23 },
    ])
  })

  test.each([
    ['{% if a %}x', 'blockNotClosed', 1],
    ['{% for a in b %}x{% if c %}{% endfor %}', 'blockNotClosed', 18],
    ['x{% endif %}', 'endWithoutBlock', 2],
    ['x{% else %}', 'unknownTag', 2],
    ['{% elseif a %}', 'unknownTag', 1],
    ['x {{ a ', 'markupNotClosed', 3],
    ['x {% assign a = 1', 'markupNotClosed', 3],
    ['{% %}', 'markupNotClosed', 1],
    ['{% comment %} x', 'blockNotClosed', 1],
    ['{% raw %} x', 'blockNotClosed', 1],
    ['{{ "abc }}', 'templateUnreadable', 4],
    ['{% if a = b %}{% endif %}', 'templateUnreadable', 9],
    ['{% if a == %}{% endif %}', 'templateUnreadable', 11],
    ['{% if %}{% endif %}', 'templateUnreadable', 6],
    ['{% if a == 1 b %}{% endif %}', 'templateUnreadable', 14],
    ['{{ a | plus 1 }}', 'templateUnreadable', 13],
    ['{% assign = 1 %}', 'templateUnreadable', 11],
    ['{% for a of b %}{% endfor %}', 'templateUnreadable', 1],
    ['{{ a ) }}', 'templateUnreadable', 6],
  ])('%s', (source, code, column) => {
    expect(errors(source)).toMatchObject([{ code, line: 1, column }])
  })

  test('errors after an unreadable block are reported', () => {
    expect(errors('{% if a = b %}{% if c %}{% endif %}{% else %}{% endif %}\n{{ d | foo }}')).toMatchObject([
      { line: 1 },
      { code: 'unknownFilter', line: 2 },
    ])
  })

  test('at most 100 errors are listed', () => {
    expect(errors('{{ a | foo }}\n'.repeat(5_000))).toHaveLength(100)
  })

  test('excessive nesting is an error, not a crash', () => {
    expect(errors('{% if a %}'.repeat(200) + '{% endif %}'.repeat(200)).length).toBeGreaterThan(0)
    expect(errors(`{{ ${'('.repeat(40_000)} }}`).length).toBe(1)
    expect(errors(`{{ ${'a['.repeat(20_000)} }}`).length).toBe(1)
  })

  test('a source of more than 5 million characters is rejected', () => {
    expect(errors('x'.repeat(5_000_001))).toMatchObject([{ code: 'templateTooLarge' }])
  })

  test('a template of more than 200,000 parts is rejected before it is read', () => {
    // Braces count as four parts. Names, numbers and signs count as one.
    for (const [source, parts] of [
      ['text, with commas: a { b } c', 0],
      ['{{ a }}', 5],
      ['{{ data.policy.x | plus: 1 }} text {% if a1 == "b" %}', 4 + 9 + 4 + 7],
      ['{% assign größe = 1.5', 4 + 6],
      ['{{ a {{ b }}', 4 + 4],
      ['{', 0],
    ] as const)
      expect([source, partsOf(source)]).toEqual([source, parts])
    const outputs = '{{ a }} '.repeat(40_000)
    expect(compileTemplate({ path: 'a.liquid', source: outputs }).findings).toEqual([])
    const tooMany = 'The template has more than 200000 parts'
    for (const source of [`${outputs}{{ a }}`, `{% if ${'a or '.repeat(110_000)}a %}{% endif %}`])
      expect(errors(source)).toMatchObject([
        { code: 'templateTooLarge', message: expect.stringContaining(tooMany) },
      ])
  })

  test('unclosed braces are counted in one pass', () => {
    expect(partsOf('{{'.repeat(2_000_000))).toBeGreaterThan(200_000)
  })

  test('random text gives findings, or a template that renders or fails with a TemplateError', () => {
    const piece = fc.constantFrom(
      ...[
        '{{',
        '}}',
        '{%',
        '%}',
        ' if ',
        ' endif ',
        ' for x in ',
        ' endfor ',
        ' case ',
        ' when ',
        ' assign a = ',
        'data',
      ],
      ...[
        '|',
        ':',
        ',',
        '"',
        "'",
        '(',
        ')',
        '[',
        ']',
        '.',
        '..',
        '==',
        '<',
        ' and ',
        '1',
        '2.5',
        ' plus',
        ' lookup',
        '\n',
        '-',
      ],
      ...[
        ' raw ',
        ' endraw ',
        ' comment ',
        ' endcomment ',
        ' liquid ',
        ' cycle ',
        ' tablerow i in ',
        '#',
        ' nil ',
        '=',
        'é',
        '\\',
      ],
    )
    const source = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map(pieces => pieces.join('')),
      fc.string({ maxLength: 60 }),
    )
    fc.assert(
      fc.property(source, text => {
        const { template, findings } = compileTemplate({ path: 'p', source: text })
        for (const { line, column } of findings) expect(line! >= 1 && column! >= 1).toBe(true)
        expect(template === undefined).toBe(findings.some(finding => finding.severity === 'ERROR'))
        try {
          if (template) template.render({ data: [1, 'a'] }, environment)
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError)
        }
      }),
      { seed: 20_261, numRuns: 2_000 },
    )
  })
})
