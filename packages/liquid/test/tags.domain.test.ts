import { describe, expect, test } from 'vitest'
import { compiled, failure, output } from './rendering.ts'

describe('Loops', () => {
  test('offset, limit and reversed apply in this order, in whichever order they are written', () => {
    const list = [1, 2, 3, 4, 5]
    expect(output('{% for x in data limit: 3 offset: 1 %}{{ x }}{% endfor %}', list)).toBe('234')
    expect(output('{% for x in data reversed limit: "2" %}{{ x }}{% endfor %}', list)).toBe('21')
    expect(
      output(
        '{% for x in data limit: 2 %}{{ x }}{% endfor %}-{% for x in data offset: continue %}{{ x }}{% endfor %}',
        list,
      ),
    ).toBe('12-345')
  })

  test('a range has whole numbers, and its bounds may be text or computed', () => {
    expect(output('{% for i in (1..data) reversed %}{{ i }}{% endfor %}', '3')).toBe('321')
    expect(output('{% assign n = 1 | times: 2.0 %}{% for i in (n..4) limit: 2 %}{{ i }}{% endfor %}')).toBe(
      '23',
    )
    expect(output('{% for i in (3..1) %}{{ i }}{% else %}none{% endfor %}')).toBe('none')
  })

  test('a map is iterated as pairs of key and value', () => {
    expect(
      output('{% for pair in data %}{{ pair[0] }}={{ pair[1].n }};{% endfor %}', {
        a: { n: 1 },
        b: { n: 2 },
      }),
    ).toBe('a=1;b=2;')
  })

  test('a single value is iterated once, and an absent value not at all', () => {
    expect(output('{% for x in data %}[{{ x }}]{% endfor %}', 'one')).toBe('[one]')
    expect(output('{% for x in data %}[{{ x }}]{% endfor %}', 12.5)).toBe('[12.5]')
    expect(output('{% for x in data.none %}x{% else %}empty{% endfor %}', {})).toBe('empty')
  })

  test('forloop has its indexes, length, first, last and parentloop', () => {
    const source =
      '{% for x in data %}{{ forloop.index }}{{ forloop.index0 }}{{ forloop.rindex }}{{ forloop.rindex0 }}{{ forloop.first }}{{ forloop.last }}{{ forloop.length }} {% endfor %}'
    expect(output(source, ['a', 'b'])).toBe('1021truefalse2 2110falsetrue2 ')
    expect(
      output(
        '{% for a in (1..2) %}{% for b in (1..2) %}{{ forloop.parentloop.index }}{{ b }} {% endfor %}{% endfor %}',
      ),
    ).toBe('11 12 21 22 ')
  })

  test('break ends the loop, and continue ends the iteration', () => {
    expect(
      output(
        '{% for i in (1..5) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}!',
      ),
    ).toBe('13!')
  })

  test('a variable that is set in a loop is still set after it', () => {
    expect(output('{% for i in (1..3) %}{% assign last = i %}{% endfor %}{{ last }}')).toBe('3')
  })

  test('tablerow renders rows of cells', () => {
    expect(
      output('{% tablerow x in (1..3) cols: 2 %}{{ x }}{{ tablerowloop.col_last }}{% endtablerow %}'),
    ).toBe(
      '<tr class="row1"><td class="col1">1false</td><td class="col2">2true</td></tr><tr class="row2"><td class="col1">3false</td></tr>',
    )
  })

  test('cycle continues with each use, separately for each group', () => {
    expect(output('{% for i in (1..3) %}{% cycle "a", "b" %}{% endfor %}{% cycle "a", "b" %}')).toBe('abab')
    expect(output('{% cycle "x": 1, 2 %}{% cycle "y": 1, 2 %}{% cycle "x": 1, 2 %}')).toBe('112')
  })
})

describe('Other tags', () => {
  test.each([
    ['{% capture a %}x{{ 1 | plus: 1 }}{% endcapture %}[{{ a }}]', '[x2]'],
    ['{% raw %}{{ a }}{% if %}{% endraw %}!', '{{ a }}{% if %}!'],
    ['a {%- assign x = 1 -%} b', 'ab'],
    ['{% liquid\n assign x = 2\n if x == 2\n echo "two"\n endif %}', 'two'],
    ['{% # a note %}x', 'x'],
    ['{% echo "a" | upcase %}', 'A'],
    ['{% increment n %}{% increment n %}{% decrement m %}', '01-1'],
    [
      '{% header %}H{% endheader %}{% footer %}{{ | page_number }}/{{ nil | page_count }}{% endfooter %}',
      '<bindery-header>H</bindery-header><bindery-footer><bindery-page-number></bindery-page-number>/<bindery-page-count></bindery-page-count></bindery-footer>',
    ],
    ['{% assign both = 1 == 1 and 2 == 2 %}{{ both }}', 'true'],
  ])('%s', (source, expected) => {
    expect(output(source)).toBe(expected)
  })
})

describe('Snippets', () => {
  const snippets: Record<string, string> = {
    greet: 'Hello {{ who }}{{ data.mark }}{% assign set = "yes" %}',
    item: '[{{ item }}]',
    named: '({{ named }})',
    loop: '{% include "loop" %}',
    broken: 'a\nb{{ 1 | divided_by: 0 }}',
  }
  const templates = (name: string) =>
    snippets[name] === undefined ? undefined : compiled(snippets[name], `${name}.liquid`)

  test('include reads and sets the variables of the including template', () => {
    expect(
      output('{% assign who = "you" %}{% include "greet" %}{{ set }}', { mark: '!' }, { templates }),
    ).toBe('Hello you!yes')
  })

  test('render only sees data and its arguments, and sets no variables of the template', () => {
    expect(
      output('{% assign who = "you" %}{% render "greet" %}{{ set }}', { mark: '!' }, { templates }),
    ).toBe('Hello !')
    expect(output('{% render "greet", who: "all" %}', { mark: '!' }, { templates })).toBe('Hello all!')
    expect(
      output('{% render "item" for data as item %}{% render "named" with 5 %}', ['a', 'b'], { templates }),
    ).toBe('[a][b](5)')
  })

  test('the name of a snippet may be computed', () => {
    expect(output('{% assign n = "named" %}{% include n with 7 %}', {}, { templates })).toBe('(7)')
  })

  test('an unknown snippet fails with its name in the message', () => {
    expect(failure('{% render "gone" %}', {}, { templates }).message).toContain("'gone'")
    expect(failure('{% render "gone" %}').message).toContain("'gone'")
  })

  test('a snippet that includes itself fails', () => {
    expect(failure('{% include "loop" %}', {}, { templates })).toMatchObject({
      code: 'templateFailed',
      path: 'loop.liquid',
    })
  })

  test('snippets nested deeper than 8 levels stop the template', () => {
    const deep = (name: string) => compiled(`{% include "n${Number(name.slice(1)) + 1}" %}`, name)
    expect(failure('{% include "n1" %}', {}, { templates: deep }).code).toBe('templateLimit')
  })

  test('a failure inside a snippet has the path, line and column within the snippet', () => {
    expect(failure('{% include "broken" %}', {}, { templates })).toMatchObject({
      path: 'broken.liquid',
      line: 2,
      column: 9,
    })
  })
})

describe('The data of a template', () => {
  test('is not changed by the template', () => {
    const data = { n: 1, list: [3, 1, 2], o: { a: 1 } }
    const before = JSON.stringify(data)
    output(
      '{% increment data %}{% assign data = 5 %}{% assign x = data.list | sort | reverse %}{% capture o %}{% endcapture %}{% increment n %}',
      data,
    )
    expect(JSON.stringify(data)).toBe(before)
  })

  test('shows only its own members, never inherited ones', () => {
    const paths = [
      'data.constructor',
      'data.__proto__',
      'data.list.length',
      'data.list.constructor',
      'empty.constructor',
      'nil.valueOf',
      'size',
      'toString',
      'data.f',
      'data.n.value',
    ]
    expect(output(paths.map(path => `{{ ${path} }}`).join(''), { list: [], n: 1.5, f: () => 'called' })).toBe(
      '',
    )
    expect(output('{% for i in (1..1) %}{{ forloop.constructor }}{{ forloop.__proto__ }}{% endfor %}')).toBe(
      '',
    )
    expect(
      output('{% assign __proto__ = "x" %}{{ __proto__ }}{{ data.toString }}', { toString: 'own' }),
    ).toBe('xown')
  })
})
