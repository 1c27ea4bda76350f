// The cost of a template by its own count (packages/liquid/limits.ts) grows in proportion to what it processes. The work of PDFs is
// counted in packages/pdf/test/growth.long.domain.test.ts.
import { expect, it } from 'vitest'
import { TemplateError } from '../../packages/liquid/limits.ts'
import { compiled, environment } from '../../packages/liquid/test/rendering.ts'

const MOST_NODES = 1_048_576

/** The number of nodes that the template needs. With one fewer it is stopped. */
function nodesOf(source: string, data: unknown): number {
  const template = compiled(source)
  const isEnough = (nodes: number): boolean => {
    try {
      template.render(data, { ...environment, limits: { nodes } })
      return true
    } catch (error) {
      if (error instanceof TemplateError && error.code === 'templateLimit') return false
      throw error
    }
  }
  let [stopped, enough] = [0, MOST_NODES]
  expect(isEnough(enough)).toBe(true)
  while (enough - stopped > 1) {
    const middle = (stopped + enough) >> 1
    if (isEnough(middle)) enough = middle
    else stopped = middle
  }
  return enough
}

const items = (size: number) => ({
  all: Array.from({ length: size }, (_, at) => ({ at, text: `text ${at}` })),
})

it.each<[string, (size: number) => string]>([
  ['turns of a loop', () => '{% for one in data.all %}{{ one.at | plus: 1 }}{% endfor %}'],
  ['items that are sorted', () => "{{ data.all | sort: 'text' | map: 'text' | join: ',' }}"],
  ['items that are sought', () => "{% assign found = data.all | where: 'at', 3 %}{{ found.size }}"],
  ['items without repeats', () => "{{ data.all | map: 'text' | uniq | size }}"],
  ['tags of a template', size => '{% if data.all.size > 3 %}{{ data.all[2].text }}{% endif %}'.repeat(size)],
  ['text that is replaced', size => `{{ '${'ab '.repeat(size)}' | replace: 'a', 'c' | upcase }}`],
])('%s: twice as many take at most twice the nodes', (_, source) => {
  const nodes = [200, 400, 800, 1_600].map(size => nodesOf(source(size), items(size)))
  for (const at of [1, 2, 3]) expect(nodes[at]!, nodes.join(', ')).toBeLessThan(2.4 * nodes[at - 1]! + 2)
  expect(nodes[3]!).toBeGreaterThan(nodes[0]!)
})
