// The first page (policies opened last and newest policies), search results, and the page of a policyholder.
import { useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import {
  displayNames,
  holderFields,
  holderOf,
  LONGEST_SEARCH,
  newest,
  openedLast,
  permissions,
  policiesOf,
  search,
} from '../find.ts'
import { personName } from '../format.ts'
import { workOverview } from '../lists/overview.ts'
import { emptyNote, fieldValues, loadedSection, problemNote, section, table } from '../parts.ts'
import { policyColumns, policyLink, policyTable } from '../policy-table.ts'
import { usePromise } from '../use-promise.ts'
import type { Found, Policyholder, PolicyList } from '../wire.ts'
import { DESK, HOME } from '../words.ts'

export async function homeView(signal: AbortSignal): Promise<View> {
  const opened = openedLast()
  // Lists and links depend on the permissions. If they appeared later, they would move the rest of the page. The lists themselves
  // report a failure.
  await permissions().catch(() => {})
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
    loadedSection(HOME.loadsWhatIsFound, async () => foundView(await search(text, signal), text)),
  )
}

async function foundView({ policies, policyholders, hasMore }: Found, text: string): Promise<Child> {
  // The locator of a policy leads there. Back then leads to the page before the search.
  if (policies.some(({ locator }) => locator === text)) location.replace(`#/policy/${text}`)
  if (policies.length + policyholders.length === 0) return emptyNote(HOME.nothingFound(text))
  return [
    hasMore && h('p', { class: 'notice' }, HOME.hasMore),
    policyholders.length > 0 &&
      section(HOME.policyholders, h('ul', { class: 'cards' }, policyholders.map(holderCard))),
    policies.length > 0 && section(HOME.policies, await policyTable(HOME.policiesFound, policies)),
  ]
}

const holderCard = ({ locator, entity }: Policyholder): View =>
  h(
    'li',
    { class: 'card' },
    h('a', { href: `#/policyholder/${encodeURIComponent(locator)}` }, personName(entity.values)),
    ' ',
    h(
      'span',
      { class: 'soft small' },
      ['postcode', 'city'].flatMap(name => entity.values[name] ?? []).join(' '),
    ),
  )

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
      loadedSection(HOME.loadsPolicies, async () =>
        part(PoliciesOfHolder, {
          locator,
          first: await policiesOf(locator, undefined, signal),
          names: await displayNames(),
        }),
      ),
    ),
    section(HOME.values, fieldValues(values, fields) ?? emptyNote(HOME.none)),
  )
}

type HolderPolicies = {
  readonly locator: string
  readonly first: PolicyList
  readonly names: ReadonlyMap<string, string>
}

/** Policies of a policyholder, oldest first. A fleet or a broker has more than one page of them. */
function PoliciesOfHolder({ locator, first, names }: HolderPolicies): View {
  const [policies, show] = useState(first.policies)
  const [next, setNext] = useState(first.pagingToken)
  const [isLoading, load] = useState(false)
  const [failure, fail] = useState<unknown>()
  const loadMore = (): void => {
    if (isLoading) return
    load(true)
    fail(undefined)
    policiesOf(locator, next)
      .then(
        page => {
          show(before => [...before, ...page.policies])
          setNext(page.pagingToken)
        },
        (problem: unknown) => fail(problem),
      )
      .finally(() => load(false))
  }
  return h(
    'div',
    { 'aria-busy': isLoading ? 'true' : undefined },
    policies.length === 0 ? emptyNote(HOME.noPolicies) : table(HOME.policies, policyColumns(names), policies),
    next !== undefined &&
      h(
        'button',
        { type: 'button', 'aria-disabled': isLoading ? 'true' : undefined, click: loadMore },
        HOME.morePolicies,
      ),
    failure !== undefined && problemNote(failure),
  )
}
