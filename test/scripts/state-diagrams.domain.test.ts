import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  STATES_BEGIN,
  STATES_END,
  STATES_PAGE,
  stateDiagram,
  withStateDiagrams,
} from '../../tools/state-diagrams.ts'

test('docs/states.md shows the current states; npm run docs:states writes them', () => {
  const page = readFileSync(STATES_PAGE, 'utf8')
  expect(page).toBe(withStateDiagrams(page))
})

test('a diagram has an arrow for each pair of states, labeled with its actions', () => {
  const table = {
    change: { from: ['draft'], to: 'same', past: 'changed' },
    decide: { from: ['draft', 'open'], to: ['open', 'closed'], past: 'decided' },
    close: { from: ['open'], to: 'closed', past: 'closed' },
  } as const
  expect(stateDiagram({ first: 'draft', table }).split('\n')).toEqual([
    '```mermaid',
    'stateDiagram-v2',
    '  [*] --> draft',
    '  draft --> draft: change',
    '  draft --> open: decide',
    '  draft --> closed: decide',
    '  open --> open: decide',
    '  open --> closed: decide, close',
    '```',
  ])
})

test('a text without markers is rejected, and the text around markers is kept', () => {
  expect(() => withStateDiagrams('nothing')).toThrow(STATES_BEGIN)
  const text = withStateDiagrams(`before\n${STATES_BEGIN}\nold\n${STATES_END}\nafter\n`)
  expect(text).toMatch(/^before\n<!-- states:begin -->\n\n\*\*Policy\*\*/)
  expect(text).toMatch(/```\n\n<!-- states:end -->\nafter\n$/)
  expect(text).not.toContain('old')
})
