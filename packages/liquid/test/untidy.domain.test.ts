import { describe, expect, test } from 'vitest'
import { compileTemplate, output } from './rendering.ts'

const warnings = (source: string): string[] =>
  compileTemplate({ path: 'p', source }).findings.map(
    ({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`,
  )

describe('Untidy templates that still render', () => {
  test('a path part may begin with a digit, without a warning', () => {
    const source = '{% assign policy_v = data.values %}{{ policy_v.10_year_conviction }}{{ data.values.2nd }}'
    expect(output(source, { values: { '10_year_conviction': 'Yes', '2nd': 'No' } })).toBe('YesNo')
    expect(warnings(source)).toEqual([])
  })

  test('a filter without input gets nothing as its input, with a warning', () => {
    expect(output('{{ | page_number }}{{| append: "x"}}')).toBe(
      '<bindery-page-number></bindery-page-number>x',
    )
    expect(warnings('{{ | append: "x" }}')).toEqual(['WARNING missingInput 1:4'])
    expect(output('{% assign a = | append: "x" %}{{ a }}')).toBe('x')
  })

  test('page_number and page_count need no input, so they give no warning without one', () => {
    expect(warnings('{{ | page_number }} {{| page_count}} {{ |page_count | append: "." }}')).toEqual([])
    expect(warnings('{{ | page_numbers }}')).toContain('WARNING missingInput 1:4')
  })

  test('a doubled equals sign counts as one, with a warning', () => {
    const source = '{% assign a =  = data.x %}{% assign b = = "=" | append: "!" %}{{ a }}{{ b }}'
    expect(output(source, { x: 7 })).toBe('7=!')
    expect(warnings(source)).toEqual(['WARNING doubledEqualsSign 1:16', 'WARNING doubledEqualsSign 1:41'])
    for (const refused of ['{% assign a == 1 %}', '{{ = 1 }}', '{% assign a = = = 1 %}'])
      expect(warnings(refused).at(-1), refused).toMatch(/^ERROR templateUnreadable/)
  })

  test('an empty filter does nothing, with a warning', () => {
    expect(output('{{ "a" | | upcase }}{{ "b" || upcase }}{{ "c" | }}{{ "d" | | }}')).toBe('ABcd')
    expect(warnings('{{ "a" | | upcase }}')).toEqual(['WARNING emptyFilter 1:8'])
  })

  test('=== means == and !== means !=, with a warning', () => {
    expect(output('{% if 1 === 1 %}a{% endif %}{% if 1 !== 1 %}b{% endif %}')).toBe('a')
    expect(warnings('{% if 1 === 1 %}a{% endif %}')).toEqual(['WARNING unusualOperator 1:9'])
  })

  test('a case that is never closed ends with the template, with a warning', () => {
    const source = '{% case data %}{% when 1 %}one{% when 2 %}two'
    expect(output(source, 2)).toBe('two')
    expect(warnings(source)).toEqual(['WARNING blockNotClosed 1:1'])
  })

  test('a case that is never closed ends with the block around it', () => {
    expect(output('{% if true %}{% case data %}{% when 1 %}one{% endif %}, after', 1)).toBe('one, after')
    expect(output('{% for i in (1..2) %}{% case i %}{% when 1 %}one{% endfor %}!')).toBe('one!')
  })

  test('a tag that is not closed ends at the next closing delimiter, and the text up to there is lost', () => {
    const source = "{% assign x = 5 | times: 2\n<p>it's lost</p>\n{% assign y = 6 %}{{ x }}{{ y }}"
    expect(output(source)).toBe('10')
    expect(warnings(source)).toEqual(['WARNING markupNotClosed 1:1'])
    expect(output('{% assign x = 5 <b>lost</b> {% assign y = 6 %}{{ x }}')).toBe('5')
    expect(output('{% assign x = 5 } lost {% assign y = 6 %}{{ x }}')).toBe('5')
    expect(output('{% if true %}a{% else \n lost {% assign y = 6 %}b{% endif \n lost {{ x }} %}c')).toBe('ac')
  })

  test('an output that is not closed ends at the next closing delimiter', () => {
    expect(output('{{ "a" } lost {{ "b" }}c')).toBe('ac')
  })

  test('markup in quotes is text', () => {
    expect(output('{{ "{{ a" | append: "}}" }}{% assign x = "{{" %}{{ x }}')).toBe('{{ a}}{{')
  })

  test('an empty output prints nothing', () => {
    expect(output('a{{ }}b{{}}c')).toBe('abc')
  })

  test('a comment may contain anything', () => {
    expect(output('a{% comment %} {{ x | nofilter {% if %} {%- endcomment -%} b')).toBe('ab')
  })

  test('a byte-order mark and carriage returns are accepted', () => {
    expect(output('\uFEFF{% assign a = 1\r\n%}{{ a }}')).toBe('1')
  })

  test('unknown variables print nothing', () => {
    expect(output('[{{ a }}{{ a.b.c }}{{ a[0] }}{{ data.x.y }}]', {})).toBe('[]')
  })

  test('backslashes in quoted text are literal', () => {
    expect(output('{{ "C:\\new" }}{{ \'a\\\' }}')).toBe('C:\\newa\\')
  })
})
