// A policy: who and what it is, and the views of it.
import { get } from '../api.ts'
import { sum } from '../decimal.ts'
import { type Child, fill, h } from '../dom.ts'
import { displayNames, holderOf, noteOpened, policiesOf } from '../find.ts'
import { dayOrMoment, money, personName, words } from '../format.ts'
import { historyOf, premiumAt } from '../knowledge.ts'
import { badge, problemNote } from '../parts.ts'
import type { Policy } from '../wire.ts'
import { billingView } from './billing.ts'
import { coverView } from './cover.ts'
import { documentsView } from './documents.ts'
import { eventsView } from './events.ts'
import { quotesView } from './quotes.ts'
import { timelineView } from './timeline.ts'
import { transactionsView } from './transactions.ts'
import { worksheetView } from './worksheet.ts'

type Names = ReadonlyMap<string, string>

const TABS: readonly {
  name: string
  text: string
  view: (policy: Policy, names: Names, signal: AbortSignal) => HTMLElement
}[] = [
  { name: '', text: 'Timeline', view: timelineView },
  { name: 'cover', text: 'Cover', view: coverView },
  { name: 'transactions', text: 'Transactions', view: transactionsView },
  { name: 'billing', text: 'Billing', view: billingView },
  { name: 'documents', text: 'Documents', view: documentsView },
  { name: 'events', text: 'Events', view: (policy, _, signal) => eventsView(policy, signal) },
  { name: 'quotes', text: 'Quotes', view: quotesView },
  { name: 'worksheet', text: 'Worksheet', view: worksheetView },
]

let kept: { locator: string; policy: Policy } | undefined

export const forgetPolicy = (): void => {
  kept = undefined
}

/** The page of the policy with the view that the address names; `moved` says that only the view is another. */
export async function policyView(locator: string, tab: string, signal: AbortSignal): Promise<HTMLElement> {
  if (kept?.locator !== locator) {
    const policy = await get<Policy>(`/policy/${encodeURIComponent(locator)}`, signal)
    kept = { locator, policy }
    noteOpened(policy.locator)
  }
  const { policy } = kept
  const names = await displayNames()
  const path = `#/policy/${encodeURIComponent(policy.locator)}`
  const shown = TABS.find(({ name }) => name === tab) ?? TABS[0]!
  const content = h('div', { class: 'view', id: 'view' })
  try {
    fill(content, shown.view(policy, names, signal))
  } catch (failure) {
    fill(content, problemNote(failure))
  }
  return h(
    'div',
    {},
    header(policy, names, signal),
    h(
      'nav',
      { class: 'tabs', 'aria-label': 'Views of the policy' },
      TABS.map(({ name, text }) =>
        h(
          'a',
          { href: name ? `${path}/${name}` : path, ...(name === shown.name && { 'aria-current': 'page' }) },
          text,
        ),
      ),
    ),
    h('h2', { class: 'hidden' }, shown.text),
    content,
  )
}

function header(policy: Policy, names: Names, signal: AbortSignal): HTMLElement {
  const currency = policy.grossFeesCurrency
  const history = historyOf(policy)
  const name = h('span', { class: 'pending' }, '…')
  const state = h('span')
  const holder = `#/policyholder/${encodeURIComponent(policy.policyholderLocator)}`
  holderOf(policy.policyholderLocator)
    .then(({ entity }) => personName(entity.values))
    .catch(() => 'Policyholder')
    .then(text => {
      name.textContent = text
      name.classList.remove('pending')
    })
  policiesOf(policy.policyholderLocator, signal)
    .then(({ policies }) => {
      const listed = policies.find(one => one.locator === policy.locator)
      if (listed) fill(state, badge(listed.state))
    })
    .catch(() => {})
  const outstanding = policy.invoices.filter(one => one.outstandingAmount !== undefined)
  const tile = (text: string, ...value: Child[]): HTMLElement =>
    h('div', {}, h('dt', {}, text), h('dd', {}, value))
  return h(
    'header',
    { class: 'policy-head' },
    h('h1', { tabindex: -1 }, h('a', { href: holder }, name)),
    h(
      'p',
      { class: 'under' },
      h('span', { class: 'locator' }, policy.locator),
      h('span', {}, names.get(policy.productName) ?? words(policy.productName)),
      state,
      h(
        'button',
        { type: 'button', class: 'quiet', click: () => dispatchEvent(new Event('bindery:reload')) },
        'Reload',
      ),
    ),
    h(
      'dl',
      { class: 'tiles' },
      tile(
        'Term',
        `${dayOrMoment(policy.originalContractStartTimestamp)} – ${dayOrMoment(policy.effectiveContractEndTimestamp)}`,
      ),
      tile(
        'Premium of the term',
        h(
          'a',
          { href: `#/policy/${encodeURIComponent(policy.locator)}/worksheet`, title: 'How it came to be' },
          money(premiumAt(history, history.steps.length - 1), currency),
        ),
      ),
      tile('Outstanding', money(sum(outstanding.map(one => one.outstandingAmount)), currency)),
      tile(
        'Payment',
        policy.paymentScheduleName
          ? (names.get(policy.paymentScheduleName) ?? words(policy.paymentScheduleName))
          : '–',
      ),
      tile('Configuration', `Version ${policy.configVersion}`),
    ),
    policy.cancellation &&
      h(
        'p',
        { class: 'notice bad' },
        `${words(policy.cancellation.modificationName)}: cover ends ${dayOrMoment(policy.cancellation.effectiveTimestamp)}.`,
      ),
  )
}
