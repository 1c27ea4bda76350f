import { expect, test } from 'vitest'
import { type Expression, outlineOf, type Statement } from '../outline.ts'
import { compiled, failure, rendering } from './rendering.ts'

/** Prints the outline: a line for each statement, with nested statements indented. */
function lines(statements: readonly Statement[], indent = ''): string[] {
  return statements.flatMap(one => {
    const inner = (list: readonly Statement[] | undefined) => lines(list ?? [], `${indent}  `)
    switch (one.kind) {
      case 'output':
        return [`${indent}print ${shown(one.value.initial)}${filters(one.value.filters)}`]
      case 'assign':
        return [`${indent}${one.name} := ${shown(one.value.initial)}${filters(one.value.filters)}`]
      case 'capture':
        return [`${indent}capture ${one.name}`, ...inner(one.body)]
      case 'choice':
        return [
          ...one.branches.flatMap(({ condition, isNegated, body }) => [
            `${indent}${isNegated ? 'unless' : 'if'} ${shown(condition.initial)}`,
            ...inner(body),
          ]),
          ...(one.otherwise ? [`${indent}else`, ...inner(one.otherwise)] : []),
        ]
      case 'case':
        return [
          `${indent}case ${shown(one.subject.initial)}`,
          ...one.branches.flatMap(({ values, body }) => [
            `${indent}when ${values.map(shown).join(', ')}`,
            ...inner(body),
          ]),
          ...(one.otherwise ? [`${indent}else`, ...inner(one.otherwise)] : []),
        ]
      case 'loop':
        return [
          `${indent}for ${one.variable} in ${shown(one.list)}`,
          ...inner(one.body),
          ...inner(one.otherwise),
        ]
      case 'block':
        return [`${indent}block`, ...inner(one.body)]
      case 'opaque':
        return [`${indent}${one.tag}`]
      case 'counter':
        return [`${indent}count ${one.name}`]
      default:
        return []
    }
  })
}

function shown(one: Expression): string {
  switch (one.kind) {
    case 'path':
      return [
        one.variable,
        ...one.steps.map(step => ('name' in step ? step.name : `[${shown(step.key)}]`)),
      ].join('.')
    case 'text':
      return JSON.stringify(one.value)
    case 'number':
    case 'word':
      return String(one.value)
    case 'range':
      return `${shown(one.from)}..${shown(one.to)}`
    case 'operation':
      return `(${shown(one.left)} ${one.operator} ${shown(one.right)})`
    case 'group':
      return `(${shown(one.value.initial)}${filters(one.value.filters)})`
    default:
      return '?'
  }
}

const filters = (list: readonly { name: string; args: readonly Expression[] }[]): string =>
  list.map(({ name, args }) => ` | ${[name, ...args.map(shown)].join(' ')}`).join('')

const outline = (source: string): string[] => lines(outlineOf(compiled(source)))

test('outlineOf lists every kind of statement with its contents', () => {
  const source = `text {{ data.a.b | times: 2 | round }}
{% assign x = "t" | lookup: data['k'], column: "c" %}{% capture y %}{{ x }}{% endcapture %}
{% if data.a > 1 and x == "z" or y %}1{% elsif data.list[0] contains 'q' %}{{ 2 }}{% else %}{{ 3 }}{% endif %}
{% unless x %}{{ nil }}{% endunless %}
{% case x %}{% when 1, "b" %}{{ 4 }}{% else %}{{ 5 }}{% endcase %}
{% for i in (1..data.n) %}{{ i }}{% else %}{{ 6 }}{% endfor %}
{% liquid assign z = 1
echo z %}{% render 'snippet' %}{% increment n %}{% comment %}{{ not.this }}{% endcomment %}{% raw %}{{ nor.this }}{% endraw %}
{{ groups[data.locator].name }}{{ (data.a | plus: 1) }}`
  expect(outline(source)).toEqual([
    'print data.a.b | times 2 | round',
    'x := "t" | lookup data.k',
    'capture y',
    '  print x',
    'if ((data.a > 1) and ((x == "z") or y))',
    'if (data.list.[0] contains "q")',
    '  print 2',
    'else',
    '  print 3',
    'unless x',
    '  print nil',
    'case x',
    'when 1, "b"',
    '  print 4',
    'else',
    '  print 5',
    'for i in 1..data.n',
    '  print i',
    '  print 6',
    'block',
    '  z := 1',
    '  print z',
    'render',
    'count n',
    'print groups.[data.locator].name',
    'print (data.a | plus 1)',
  ])
})

test('the offsets of an outline are positions in the source', () => {
  const source = 'a\n{{ data.premum | times: 2 }}'
  const [, output] = outlineOf(compiled(source))
  if (output?.kind !== 'output' || output.value.initial.kind !== 'path') throw new Error('no output')
  const [step] = output.value.initial.steps
  expect(source.slice(step!.begin, step!.end)).toBe('premum')
  expect(source.slice(output.value.filters[0]!.begin)).toMatch(/^\| times|^times/)
})

test('withoutValue can reject a path without a value, and learns whether the path is only tested', () => {
  const asked: string[] = []
  const withoutValue = (strict: boolean) => ({
    withoutValue: ({
      path,
      at,
      isSet,
      isTested,
    }: {
      path: readonly string[]
      at: number
      isSet: boolean
      isTested: boolean
    }) => {
      asked.push(`${path.join('.')} at ${at}${isSet ? ' set' : ''}${isTested ? ' tested' : ''}`)
      return strict && !isTested ? `no '${path.join('.')}'` : undefined
    },
  })
  const source = `{% if data.a.b %}{% endif %}{{ none | default: 1 }}{% unless x and data.y %}{% endunless %}
{% assign set = data.gone %}{% if set == nil %}{% endif %}
{{ set.part | plus: 1 }}{% for i in data.list %}{{ i }}{% endfor %}`
  rendering(source, { a: {} }, withoutValue(false))
  expect(asked).toEqual([
    'data.a.b at 2 set tested',
    'none at 0 tested',
    'x at 0 tested',
    'data.y at 1 set tested',
    'data.gone at 1 set',
    'set at 0 set tested',
    'set.part at 0 set',
    'data.list at 1 set',
  ])
  const problem = failure('{{ 1 }}\n{{ data.x.y | plus: 1 }}', { x: {} }, withoutValue(true))
  expect([problem.code, problem.line, problem.message]).toEqual(['templateFailed', 2, "no 'data.x.y'"])
})
