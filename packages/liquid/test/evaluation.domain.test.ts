import fc from 'fast-check'
import { toValueSync, Value } from 'liquidjs/dist/liquid.browser.mjs'
import { expect, it } from 'vitest'
import { RenderingContext } from '../context.ts'
import { evaluationOf } from '../evaluation.ts'
import { TemplateError } from '../limits.ts'
import { engine, environment, stateOf } from './rendering.ts'

const data = {
  name: 'vehicle',
  rate: 1.25,
  list: ['a', 7, true],
  map: { key: 'value', 'two words': 2 },
  nothing: null,
}

const operand = fc.constantFrom(
  ...[
    'data.name',
    'data.rate',
    'data.list[1]',
    'data.list.last',
    "data.map['two words']",
    'data.map[data.list[0]]',
  ],
  ...[
    'data.absent',
    'data.nothing.below',
    'absent.size',
    '"text"',
    '12',
    '-0.5',
    'true',
    'nil',
    'empty',
    'blank',
  ],
  ...['(1..3)', '("x" | append: "y")'],
)
const operator = fc.constantFrom('==', '!=', '<', '>=', 'contains', 'and', 'or')
const filter = fc.oneof(
  fc
    .tuple(fc.constantFrom('plus', 'times', 'append', 'default', 'divided_by'), operand)
    .map(([name, by]) => `${name}: ${by}`),
  fc.constantFrom('upcase', 'size', 'round', 'lookup: "a"', 'lookup: "a", column: "rate"', 'join: "-"'),
)
const source = fc
  .tuple(operand, fc.array(fc.tuple(operator, operand), { maxLength: 4 }), fc.array(filter, { maxLength: 4 }))
  .map(([first, more, filters]) =>
    [`${first}${more.map(([by, other]) => ` ${by} ${other}`).join('')}`, ...filters].join(' | '),
  )

/** Returns the result, the names and keys that were recorded, and the failure. */
function outcome(limits: { nodes: number }, evaluate: (context: RenderingContext) => unknown): unknown {
  const state = stateOf(data, { ...environment, limits })
  const told = () => ({ undefinedNames: [...state.undefinedNames], missing: [...state.missing.values()] })
  try {
    return { value: evaluate(new RenderingContext(engine, state)), ...told() }
  } catch (error) {
    if (error instanceof RangeError) throw error
    const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
    return { failed: cause instanceof TemplateError ? [cause.code, cause.message] : String(cause), ...told() }
  }
}

it('evaluationOf gives the same results, records and counts as the evaluation of the library', () => {
  fc.assert(
    fc.property(source, fc.integer({ min: 1, max: 12 }), (text, nodes) => {
      const value = new Value(text, engine)
      for (const limits of [{ nodes }, { nodes: 10_000 }])
        expect(outcome(limits, evaluationOf(value))).toEqual(
          outcome(limits, context => toValueSync(value.value(context))),
        )
    }),
    { numRuns: 3_000 },
  )
})
