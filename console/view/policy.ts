// The page of a policy: its head, and its views.
import { useState } from 'preact/hooks'
import { sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { displayNames, noteOpened, permissions, policyFields, summaryOf } from '../find.ts'
import { dayOrMoment, money, span, transaction, words } from '../format.ts'
import { holderName } from '../holder-name.ts'
import { historyOf, latestOf, premiumOfTerm, termAt } from '../knowledge.ts'
import { readPolicy } from '../large-policies.ts'
import { badge, problemNote } from '../parts.ts'
import { usePromise } from '../use-promise.ts'
import type { Policy } from '../wire.ts'
import { DESK } from '../words.ts'
import { policyActions } from './actions.ts'
import { billingView } from './billing.ts'
import { coverView } from './cover.ts'
import { documentsView } from './documents.ts'
import { eventsView } from './events.ts'
import { notesView } from './notes.ts'
import { quotesView } from './quotes.ts'
import { timelineView } from './timeline.ts'
import { transactionsView } from './transactions.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'
import { worksheetView } from './worksheet.ts'

const TABS: readonly {
  name: string
  text: string
  view: (policy: Policy, known: Known, signal: AbortSignal) => View
}[] = [
  { name: '', text: VIEW.timeline, view: (policy, { names }) => timelineView(policy, names) },
  { name: 'cover', text: VIEW.cover, view: coverView },
  { name: 'transactions', text: VIEW.transactions, view: transactionsView },
  { name: 'billing', text: VIEW.billing, view: billingView },
  { name: 'documents', text: VIEW.documents, view: documentsView },
  { name: 'events', text: VIEW.events, view: (policy, _, signal) => eventsView(policy, signal) },
  { name: 'quotes', text: VIEW.quotes, view: quotesView },
  {
    name: 'worksheet',
    text: VIEW.worksheet,
    view: (policy, { names }, signal) => worksheetView(policy, names, signal),
  },
  { name: 'notes', text: DESK.notes, view: notesView },
]

let kept: { locator: string; policy: Policy } | undefined

export const forgetPolicy = (): void => {
  kept = undefined
}

/** The page of the policy with the view that the address names. The policy is read once and kept for its other views. */
export async function policyView(locator: string, tab: string, signal: AbortSignal): Promise<View> {
  if (kept?.locator !== locator) {
    const policy = await readPolicy(locator, signal)
    kept = { locator, policy }
    noteOpened(policy.locator)
  }
  const { policy } = kept
  const [names, fields, held] = await Promise.all([
    displayNames(),
    policyFields(policy.productName, String(policy.configVersion)),
    permissions(),
  ])
  const known: Known = { names, fields, held }
  const path = `#/policy/${encodeURIComponent(policy.locator)}`
  const shown = TABS.find(({ name }) => name === tab) ?? TABS[0]!
  let content: View
  try {
    content = shown.view(policy, known, signal)
  } catch (failure) {
    content = problemNote(failure)
  }
  return h(
    'div',
    {},
    header(policy, known, signal),
    h(
      'nav',
      { class: 'tabs', 'aria-label': VIEW.policyViews },
      TABS.map(({ name, text }) =>
        h(
          'a',
          { href: name ? `${path}/${name}` : path, ...(name === shown.name && { 'aria-current': 'page' }) },
          text,
        ),
      ),
    ),
    h('h2', { class: 'hidden' }, shown.text),
    h('div', { class: 'view', id: 'view' }, content),
  )
}

/** The state as of now, which only lists show. */
function StateBadge({ policy, signal }: { policy: Policy; signal: AbortSignal }): View {
  const [asked] = useState(() => summaryOf(policy.locator, signal))
  const listed = usePromise(asked).value
  return h('span', {}, listed && badge(listed.state))
}

function header(policy: Policy, { names, held }: Known, signal: AbortSignal): View {
  const currency = policy.grossFeesCurrency
  const history = historyOf(policy)
  const term = termAt(history, history.steps.length - 1, latestOf(policy))
  const holder = `#/policyholder/${encodeURIComponent(policy.policyholderLocator)}`
  const outstanding = policy.invoices.filter(invoice => invoice.outstandingAmount !== undefined)
  const tile = (text: string, ...value: Child[]): View => h('div', {}, h('dt', {}, text), h('dd', {}, value))
  return h(
    'header',
    { class: 'policy-head' },
    h('h1', { tabindex: -1 }, h('a', { href: holder }, holderName(policy.policyholderLocator))),
    h(
      'p',
      { class: 'under' },
      h('span', { class: 'locator' }, policy.locator),
      h('span', {}, names.get(policy.productName) ?? words(policy.productName)),
      part(StateBadge, { policy, signal }),
      h(
        'button',
        { type: 'button', class: 'quiet', click: () => dispatchEvent(new Event('bindery:reload')) },
        VIEW.reload,
      ),
    ),
    h(
      'dl',
      { class: 'tiles' },
      tile(VIEW.term, span(term.start, term.end)),
      tile(
        VIEW.termPremium,
        h(
          'a',
          { href: `#/policy/${encodeURIComponent(policy.locator)}/worksheet`, title: VIEW.howItCameToBe },
          money(premiumOfTerm(history, history.steps.length - 1, term), currency),
        ),
      ),
      tile(
        VIEW.outstanding,
        h(
          'a',
          { href: `#/policy/${encodeURIComponent(policy.locator)}/billing` },
          money(sum(outstanding.map(one => one.outstandingAmount)), currency),
        ),
      ),
      tile(
        VIEW.payment,
        policy.paymentScheduleName
          ? (names.get(policy.paymentScheduleName) ?? words(policy.paymentScheduleName))
          : '–',
      ),
      tile(VIEW.configuration, VIEW.version(policy.configVersion)),
    ),
    policyActions(policy, held),
    policy.cancellation &&
      h(
        'p',
        { class: 'notice bad' },
        VIEW.coverEnds(
          transaction(policy.cancellation.modificationName),
          dayOrMoment(policy.cancellation.effectiveTimestamp),
        ),
      ),
  )
}
