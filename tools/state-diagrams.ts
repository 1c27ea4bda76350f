// Writes the state diagrams in docs/states.md from the transition tables. npm run docs:states
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TransitionTable } from '../src/platform/events/transitions.ts'
import { INVOICE_TRANSITIONS, PAYMENT_TRANSITIONS } from '../src/policy/records/invoice.ts'
import { POLICY_TRANSITIONS } from '../src/policy/transitions.ts'
import { ACCOUNT_TRANSITIONS, MIGRATION_TRANSITIONS } from '../src/servicing/migration/tables.ts'
import { CANCELLATION_TRANSITIONS } from '../src/transactions/cancellations/decision.ts'
import { ENDORSEMENT_TRANSITIONS } from '../src/transactions/endorsements/plans.ts'
import {
  GRACE_PERIOD_TRANSITIONS,
  LAPSE_REINSTATEMENT_TRANSITIONS,
} from '../src/transactions/lapses/transitions.ts'
import { QUOTE_TRANSITIONS } from '../src/transactions/quotes/plans.ts'
import { REINSTATEMENT_TRANSITIONS } from '../src/transactions/reinstatements/decision.ts'
import { betweenMarks } from './marks.ts'

export const STATES_BEGIN = '<!-- states:begin -->'
export const STATES_END = '<!-- states:end -->'

type Diagram = {
  readonly title: string
  /** The state of a new record. */
  readonly first: string
  readonly table: TransitionTable<string, string>
}

const DIAGRAMS: readonly Diagram[] = [
  { title: 'Policy', first: 'created', table: POLICY_TRANSITIONS },
  { title: 'Quote', first: 'draft', table: QUOTE_TRANSITIONS },
  { title: 'Endorsement and renewal', first: 'application', table: ENDORSEMENT_TRANSITIONS },
  { title: 'Cancellation', first: 'draft', table: CANCELLATION_TRANSITIONS },
  { title: 'Reinstatement', first: 'draft', table: REINSTATEMENT_TRANSITIONS },
  { title: 'Grace period', first: 'open', table: GRACE_PERIOD_TRANSITIONS },
  { title: 'Reinstatement of a legacy lapse', first: 'open', table: LAPSE_REINSTATEMENT_TRANSITIONS },
  { title: 'Invoice', first: 'unfulfilled', table: INVOICE_TRANSITIONS },
  { title: 'Payment', first: 'posted', table: PAYMENT_TRANSITIONS },
  { title: 'Migration', first: 'submitted', table: MIGRATION_TRANSITIONS },
  { title: 'Account of a migration', first: 'pending', table: ACCOUNT_TRANSITIONS },
]

/** A Mermaid state diagram. Actions that lead from the same state to the same other state share an arrow. */
export function stateDiagram({ first, table }: Omit<Diagram, 'title'>): string {
  const arrows = new Map<string, string[]>([[`[*] --> ${first}`, []]])
  for (const [action, { from, to }] of Object.entries(table))
    for (const state of from)
      for (const target of to === 'same' ? [state] : [to].flat()) {
        const arrow = `${state} --> ${target}`
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), action])
      }
  const lines = [...arrows].map(([arrow, actions]) =>
    actions.length > 0 ? `  ${arrow}: ${actions.join(', ')}` : `  ${arrow}`,
  )
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

/** Returns the text with the diagrams of the present tables between its markers. Throws if the markers are missing. */
export function withStateDiagrams(page: string): string {
  const sections = DIAGRAMS.map(diagram => `**${diagram.title}**\n\n${stateDiagram(diagram)}`)
  return betweenMarks(page, STATES_BEGIN, STATES_END, sections.join('\n\n'))
}

export const STATES_PAGE = join(import.meta.dirname, '../docs/states.md')

if (import.meta.main) writeFileSync(STATES_PAGE, withStateDiagrams(readFileSync(STATES_PAGE, 'utf8')))
