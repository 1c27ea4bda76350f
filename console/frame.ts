// The frame around every page: the skip link, the search, the signed-in user.
import { useState } from 'preact/hooks'
import { h, part, type View } from './element.ts'
import { LONGEST_SEARCH, permissions } from './find.ts'
import type { Session } from './session.ts'
import { pagesFor } from './tenant/pages.ts'
import { usePromise } from './use-promise.ts'
import { DESK, FRAME } from './words.ts'

const mark = (): View =>
  h(
    'svg',
    { viewBox: '0 0 24 24', width: 22, height: 22, 'aria-hidden': 'true', class: 'mark' },
    h('rect', { x: 2, y: 14, width: 20, height: 7, rx: 1.5 }),
    h('rect', { x: 8, y: 3, width: 14, height: 8, rx: 1.5, class: 'later' }),
  )

const search = (asked: string): View =>
  h(
    'form',
    {
      role: 'search',
      submit: event => {
        event.preventDefault()
        const text = (event.currentTarget as HTMLFormElement).querySelector('input')!.value.trim()
        if (text !== '') location.hash = `#/search?${new URLSearchParams({ q: text })}`
      },
    },
    h('input', {
      type: 'search',
      id: 'search',
      'aria-label': FRAME.search,
      placeholder: FRAME.searchHint,
      autocomplete: 'off',
      maxlength: LONGEST_SEARCH,
      spellcheck: false,
      'aria-keyshortcuts': '/',
      defaultValue: asked,
    }),
  )

export const skipLink = (): View =>
  h(
    'a',
    {
      href: '#main',
      class: 'skip',
      click: event => {
        event.preventDefault()
        document.querySelector<HTMLElement>('main h1')?.focus()
      },
    },
    FRAME.skip,
  )

/** `asked` is the text of the last search. */
export function topBar(who: Session | undefined, asked: string, signOut: () => void): View {
  const brand = h('a', { href: '#/', class: 'brand' }, mark(), h('span', {}, FRAME.name))
  if (!who) return h('header', { class: 'top', key: 'nobody' }, brand)
  return h(
    'header',
    // A new key for each search text, so that the input begins with that text.
    { class: 'top', key: `${who.username} ${asked}` },
    brand,
    search(asked),
    h(
      'div',
      { class: 'who' },
      part(TenantLink, {}),
      h(
        'span',
        { class: 'tenant' },
        h('span', {}, who.tenantName),
        who.tenantType === 'test' && h('span', { class: 'badge note' }, FRAME.test),
      ),
      h('span', { class: 'soft person', title: who.username }, who.name),
      h('button', { type: 'button', class: 'quiet', click: signOut }, FRAME.signOut),
    ),
  )
}

/** For accounts that may open one of its pages. */
function TenantLink(): View | null {
  const [asked] = useState(permissions)
  const held = usePromise(asked).value
  return held && pagesFor(held).length > 0 ? h('a', { href: '#/tenant' }, DESK.tenant) : null
}
