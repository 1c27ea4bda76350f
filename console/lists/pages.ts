// Links to other pages of a list. The page is part of the address.
import { h, type View } from '../element.ts'
import { WORDS } from './words.ts'

/** `first` is undefined on the first page, `next` on the last. */
export const pageLinks = (count: number, first: string | undefined, next: string | undefined): View =>
  h(
    'nav',
    { class: 'pages', 'aria-label': 'Pages' },
    first !== undefined && h('a', { href: first }, WORDS.firstPage),
    h('span', { class: 'soft' }, WORDS.onThisPage(count), next === undefined ? `. ${WORDS.end}` : ''),
    next !== undefined && h('a', { href: next, rel: 'next' }, WORDS.nextPage),
  )
