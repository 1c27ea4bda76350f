import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RenderingEnvironment } from '../context.ts'
import { TemplateError } from '../limits.ts'
import { nodesOf, type RenderingObserver } from '../observation.ts'
import { printedText } from '../values.ts'
import { compiled, failure, rendering } from './rendering.ts'

/** Returns the steps that an observer sees, one line each. */
function steps(source: string, data?: unknown, more: Partial<RenderingEnvironment> = {}): string[] {
  const seen: string[] = []
  const place = ({ line, column }: { line: number; column: number }) => `${line}:${column}`
  const shown = (value: unknown) => (value === undefined ? 'nothing' : printedText(value))
  const observer: RenderingObserver = {
    node: ({ at, kind, tag }) => seen.push(`${place(at)} ${tag ?? kind}`),
    read: ({ at, path, value }) => seen.push(`${place(at)} ${path.join('.')} = ${shown(value)}`),
    filter: ({ at, name, input, args, result }) =>
      seen.push(`${place(at)} ${shown(input)} ${name} ${args.map(shown).join(' ')} = ${shown(result)}`),
    assign: ({ at, name, value }) => seen.push(`${place(at)} ${name} := ${shown(value)}`),
    branch: ({ at, tag, taken, turns }) => seen.push(`${place(at)} ${tag} -> ${taken} ${turns ?? ''}`.trim()),
  }
  rendering(source, data, { ...more, observer })
  return seen.filter(step => !step.endsWith(' text'))
}

test('an observer gets each step in the order of execution, with line and column', () => {
  const source = `{% assign base = data.value | times: 0.02 | plus: data.loading %}
  {{ base | round: 2 }}`
  expect(steps(source, { value: 1_250, loading: '10.5' })).toEqual([
    '1:1 assign',
    '1:18 data.value = 1250',
    '1:31 1250 times 0.02 = 25',
    '1:51 data.loading = 10.5',
    '1:45 25 plus 10.5 = 35.5',
    '1:1 base := 35.5',
    '2:3 output',
    '2:6 base = 35.5',
    '2:13 35.5 round 2 = 35.5',
  ])
})

test('branch steps report the branch that was taken, and for loops the number of iterations', () => {
  const source = `{% if data.a %}A{% elsif data.b %}B{% else %}C{% endif %}
{% unless data.a %}not{% endunless %}
{% case data.kind %}{% when 'x' %}X{% when 'y', 'z' %}Y{% endcase %}
{% for one in data.list %}{{ one }}{% else %}none{% endfor %}
{% for one in data.none %}{{ one }}{% else %}none{% endfor %}`
  const went = steps(source, { b: true, kind: 'z', list: [4, 5] }).filter(step => step.includes(' -> '))
  expect(went).toEqual([
    '1:1 if -> 1',
    '2:1 unless -> 0',
    '3:1 case -> 1',
    '4:1 for -> 0 2',
    '5:1 for -> 1 0',
  ])
  expect(steps(source, {}).filter(step => step.includes(' -> '))[2]).toBe('3:1 case -> 2')
})

test('loops, captures, counters and arguments of snippets are reported as assignments', () => {
  const snippets = { note: compiled('{{ text }}', 'note.liquid') }
  const source = `{% for one in data.list %}{% endfor %}{% capture c %}{{ data.x }}{% endcapture %}{% increment n %}{% render 'note', text: data.x %}`
  const templates = (name: string) => snippets[name as keyof typeof snippets]
  const assigned = steps(source, { list: [7, 8], x: 'hi' }, { templates }).filter(step => step.includes(':='))
  expect(assigned.map(step => step.split(' ').slice(1).join(' '))).toEqual([
    'one := 7',
    'one := 8',
    'c := hi',
    'n := 1',
    'text := hi',
  ])
})

test('steps within a snippet have the path of the snippet', () => {
  const paths: string[] = []
  const observer: RenderingObserver = { read: ({ at, path }) => paths.push(`${at.path} ${path.join('.')}`) }
  const snippet = compiled('{{ data.b }}', 'inner.liquid')
  rendering("{{ data.a }}{% include 'inner' %}{{ data.c }}", {}, { observer, templates: () => snippet })
  expect(paths).toEqual(['test.liquid data.a', 'inner.liquid data.b', 'test.liquid data.c'])
})

test('a path with brackets is reported with the value of the brackets', () => {
  expect(steps('{{ data.rates[data.key] }}', { key: 'b', rates: { b: 3 } }).slice(1)).toEqual([
    '1:15 data.key = b',
    '1:4 data.rates.b = 3',
  ])
})

test('a path without a value is reported as undefined', () => {
  const values: unknown[] = []
  const observer: RenderingObserver = { read: ({ value }) => values.push(value) }
  rendering('{{ data.nothing.here }}', {}, { observer })
  expect(values).toEqual([undefined])
})

test('an observer can stop the rendering with an error at the position of the step', () => {
  const observer: RenderingObserver = {
    read({ at, path, value }) {
      if (value === undefined) throw new TemplateError('templateFailed', `There is no ${path.join('.')}.`, at)
    },
  }
  expect(failure('{{ data.premium }}\n{{ data.premum }}', { premium: 1 }, { observer })).toMatchObject({
    message: 'There is no data.premum.',
    line: 2,
    column: 4,
  })
})

test('nodesOf lists all nodes in order, those within blocks included, with their number of branches', () => {
  const source = `a{% if x %}b{% elsif y %}{{ c }}{% endif %}
{% for i in list %}{{ i }}{% endfor %}{% header %}{{ h }}{% endheader %}`
  const shown = nodesOf(compiled(source)).map(({ at, kind, tag, branches }) =>
    `${at.line}:${at.column} ${tag ?? kind} ${branches ?? ''}`.trim(),
  )
  expect(shown).toEqual([
    '1:1 text',
    '1:2 if 3',
    '1:12 text',
    '1:26 output',
    '1:44 text',
    '2:1 for 2',
    '2:20 output',
    '2:39 header',
    '2:51 output',
  ])
})

test('every node that runs is listed by nodesOf, and takes one of the branches listed there', () => {
  const piece = fc.constantFrom(
    '{{ data.n | plus: 1 }}',
    '{% if data.b %}x{% else %}{{ data.n }}{% endif %}\n',
    '{% for i in data.list %}{{ i }}\n{% endfor %}',
    '{% case data.n %}{% when 1 %}one{% else %}{% assign z = 2 %}{% endcase %}',
    '{% liquid assign q = 3\n echo q %}',
    'text\n',
  )
  const data = fc.record({
    n: fc.integer({ min: 0, max: 2 }),
    b: fc.boolean(),
    list: fc.array(fc.nat(), { maxLength: 3 }),
  })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), data, (pieces, values) => {
      const template = compiled(pieces.join(''))
      const listed = new Map(nodesOf(template).map(({ at, ...node }) => [`${at.line}:${at.column}`, node]))
      const observer: RenderingObserver = {
        node: ({ at, kind }) => expect(listed.get(`${at.line}:${at.column}`)?.kind).toBe(kind),
        branch: ({ at, taken }) =>
          expect(listed.get(`${at.line}:${at.column}`)?.branches).toBeGreaterThan(taken),
      }
      const seen = template.render(values, { timeZone: 'UTC', currency: 'EUR', now: 0, observer }).output
      expect(seen).toBe(template.render(values, { timeZone: 'UTC', currency: 'EUR', now: 0 }).output)
    }),
  )
})

test('observing a rendering does not change the work that is counted', () => {
  const source = '{% for i in (1..50) %}{{ i | times: 2 }}{% endfor %}'
  const within = (nodes: number, observer?: RenderingObserver) => {
    try {
      return rendering(source, {}, { limits: { nodes }, ...(observer && { observer }) }).output.length
    } catch (problem) {
      return (problem as TemplateError).code
    }
  }
  for (let nodes = 100; nodes < 200; nodes += 1) expect(within(nodes, {})).toBe(within(nodes))
})
