// The first page (policies opened last and newest policies), search results, and the page of a policyholder.
import { useState } from 'preact/hooks'
import { h, part, type View } from '../element.ts'
import {
  type Found,
  holderFields,
  holderOf,
  LONGEST_SEARCH,
  newest,
  openedLast,
  permissions,
  policiesOf,
  search,
} from '../find.ts'
import { personName, words } from '../format.ts'
import { workOverview } from '../lists/overview.ts'
import { emptyNote, fieldValues, loadedSection, section } from '../parts.ts'
import { policyLink, policyTable } from '../policy-table.ts'
import { usePromise } from '../use-promise.ts'
import type { Policyholder } from '../wire.ts'
import { DESK, HOME } from '../words.ts'

export function homeView(signal: AbortSignal): View {
  const opened = openedLast()
  return h(
    'div',
    {},
    h('h1', { tabindex: -1 }, HOME.overview),
    workOverview(signal),
    h(
      'p',
      { class: 'more' },
      h('a', { href: '#/work/policies' }, HOME.allPolicies),
      h('a', { href: '#/figures' }, HOME.figuresOfTheMonth),
      part(NewHolderLink, {}),
    ),
    opened.length > 0 &&
      section(
        HOME.openedLast,
        h(
          'ul',
          { class: 'chips' },
          opened.map(locator => h('li', {}, policyLink(locator))),
        ),
      ),
    section(
      HOME.newest,
      loadedSection(HOME.loadsNewestPolicies, async () => {
        const policies = await newest(signal)
        return policies.length === 0 ? emptyNote(HOME.noneYet) : policyTable(HOME.newestPolicies, policies)
      }),
    ),
  )
}

function NewHolderLink(): View | null {
  const [asked] = useState(permissions)
  return usePromise(asked).value?.has('policyholders.write')
    ? h('a', { href: '#/new/policyholder' }, DESK.newPolicyholder)
    : null
}

export function searchView(text: string, signal: AbortSignal): View {
  const fault = text === '' ? HOME.nothingToFind : HOME.searchTooLong(LONGEST_SEARCH)
  if (text === '' || text.length > LONGEST_SEARCH)
    return h('div', {}, h('h1', { tabindex: -1 }, HOME.search), emptyNote(fault))
  return h(
    'div',
    {},
    h('h1', { tabindex: -1 }, HOME.searchFor(text)),
    loadedSection(HOME.loadsWhatIsFound, async () => foundView(await search(text, signal), text, signal)),
  )
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

async function foundView({ policies, policyholders, fields }: Found, text: string, signal: AbortSignal) {
  const where = fields.length === 0 ? '' : HOME.searched(fields.map(words).join(', '))
  if (policies.length + policyholders.length === 0)
    return [
      emptyNote(`${HOME.nothingFound(text)}${where}`),
      /^\d+$/.test(text) && h('p', {}, HOME.openAsLocator, policyLink(text)),
      UUID.test(text) &&
        h('p', {}, HOME.openAsHolder, h('a', { href: `#/policyholder/${text.toLowerCase()}` }, text)),
    ]
  return [
    policies.length > 0 && section(HOME.policies, await policyTable(HOME.policiesFound, policies)),
    policyholders.length > 0 &&
      section(
        HOME.policyholders,
        policyholders.map(holder => holderCard(holder, signal)),
      ),
    h('p', { class: 'soft small searched' }, where),
  ]
}

const holderCard = (holder: Policyholder, signal: AbortSignal): View => {
  const { locator, entity } = holder
  return h(
    'article',
    { class: 'card' },
    h(
      'h3',
      {},
      h('a', { href: `#/policyholder/${encodeURIComponent(locator)}` }, personName(entity.values)),
      h(
        'span',
        { class: 'soft small' },
        ['postcode', 'city'].flatMap(name => entity.values[name] ?? []).join(' '),
      ),
    ),
    loadedSection(HOME.loadsPolicies, async () => {
      const { policies } = await policiesOf(locator, signal)
      return policies.length === 0
        ? emptyNote(HOME.noPolicies)
        : policyTable(HOME.policiesOf(personName(entity.values)), policies)
    }),
  )
}

export async function holderView(locator: string, signal: AbortSignal): Promise<View> {
  const [holder, fields, held] = await Promise.all([
    holderOf(locator),
    holderFields(),
    permissions().catch((): ReadonlySet<string> => new Set()),
  ])
  const { values } = holder.entity
  return h(
    'div',
    {},
    h('h1', { tabindex: -1 }, personName(values)),
    h('p', { class: 'soft small' }, HOME.policyholder, h('code', {}, locator)),
    held.has('policies.write') &&
      h(
        'p',
        { class: 'more' },
        h('a', { href: `#/new/quote/${encodeURIComponent(locator)}` }, DESK.newQuote),
      ),
    section(
      HOME.policies,
      loadedSection(HOME.loadsPolicies, async () => {
        const { policies } = await policiesOf(locator, signal)
        return policies.length === 0 ? emptyNote(HOME.noPolicies) : policyTable(HOME.policies, policies)
      }),
    ),
    section(HOME.values, fieldValues(values, fields) ?? emptyNote(HOME.none)),
  )
}
