// The console: a frame, and in it what the address after the # names. Everything in it comes from the public interface.
import { SignedOut } from './api.ts'
import { fill, h, s } from './dom.ts'
import { forgetAll } from './find.ts'
import { workView } from './lists/list.ts'
import { loading, problemNote } from './parts.ts'
import { endSession, session } from './session.ts'
import { figureLinesView, figuresView } from './view/figures.ts'
import { holderView, homeView, searchView } from './view/home.ts'
import { forgetPolicy, policyView } from './view/policy.ts'
import { signInView } from './view/sign-in.ts'

const main = h('main', { id: 'main' })
const top = h('header', { class: 'top' })
const skip = h(
  'a',
  {
    href: '#main',
    class: 'skip',
    click: event => {
      event.preventDefault()
      main.querySelector<HTMLElement>('h1')?.focus()
    },
  },
  'Skip to the content',
)
document.body.append(skip, top, main)

let leaving = new AbortController()
let ended = false
/** What was shown last: kind and name; undefined when the page has just been opened. */
let shownPath: string | undefined
const SIGN_IN = 'sign-in'

/** The parts of the address after the #. */
function route(): { parts: string[]; query: URLSearchParams } {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const decoded = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  }
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) }
}

const mark = (): SVGElement =>
  s(
    'svg',
    { viewBox: '0 0 24 24', width: 22, height: 22, 'aria-hidden': 'true', class: 'mark' },
    s('rect', { x: 2, y: 14, width: 20, height: 7, rx: 1.5 }),
    s('rect', { x: 8, y: 3, width: 14, height: 8, rx: 1.5, class: 'later' }),
  )

function drawTop(): void {
  const who = session()
  const brand = h('a', { href: '#/', class: 'brand' }, mark(), 'Bindery')
  if (!who) {
    fill(top, brand)
    return
  }
  const { parts, query } = route()
  const input = h('input', {
    type: 'search',
    id: 'search',
    'aria-label': 'Find a policy: its locator, or how a name begins',
    placeholder: 'Locator, name, number plate …',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
    value: parts[0] === 'search' ? (query.get('q') ?? '') : '',
  })
  const form = h(
    'form',
    {
      role: 'search',
      submit: event => {
        event.preventDefault()
        const text = input.value.trim()
        if (text === '') return
        location.hash = /^\d{6,}$/.test(text)
          ? `#/policy/${text}`
          : `#/search?${new URLSearchParams({ q: text })}`
      },
    },
    input,
  )
  fill(
    top,
    brand,
    form,
    h(
      'div',
      { class: 'who' },
      h(
        'span',
        { class: 'tenant' },
        h('span', {}, who.tenantName),
        who.tenantType === 'test' && h('span', { class: 'badge note' }, 'Test'),
      ),
      h('span', { class: 'soft person', title: who.username }, who.name),
      h('button', { type: 'button', class: 'quiet', click: signOut }, 'Sign out'),
    ),
  )
}

function signOut(): void {
  endSession()
  ended = false
  location.hash = '#/'
  void navigate()
}

function view(): HTMLElement | Promise<HTMLElement> {
  const { signal } = leaving
  const { parts, query } = route()
  const [kind, name, tab = ''] = parts
  if (kind === 'policy' && name) return policyView(name, tab, signal)
  forgetPolicy()
  if (kind === 'policyholder' && name) return holderView(name, signal)
  if (kind === 'figures') return name ? figureLinesView(name, query, signal) : figuresView(query, signal)
  if (kind === 'work') return workView(name ?? '', query, signal)
  if (kind === 'search') return searchView(query.get('q') ?? '', signal)
  return homeView(signal)
}

/** Names the page after its heading, and moves screen readers there. */
function arrive(): void {
  const { parts } = route()
  const heading = main.querySelector('h1')
  const about = parts[0] === 'policy' ? `Policy ${parts[1]}` : (heading?.textContent ?? '')
  document.title = about ? `${about} · Bindery` : 'Bindery'
  const path = parts.slice(0, 2).join('/')
  // Between the views of one policy, the focus stays on the link that was followed.
  if (path === shownPath && parts[0] === 'policy')
    main.querySelector<HTMLElement>('.tabs [aria-current]')?.focus()
  // Who has just opened the page begins at its beginning, as everywhere.
  else if (shownPath !== undefined) heading?.focus()
  shownPath = path
}

/** Says in `data-shows` which address the page shows: that of the browser may be another for a moment. */
function shown(address: string): void {
  main.dataset.shows = address
  main.removeAttribute('aria-busy')
}

async function navigate(): Promise<void> {
  const address = location.hash
  leaving.abort()
  const mine = new AbortController()
  leaving = mine
  drawTop()
  main.setAttribute('aria-busy', 'true')
  if (!session()) {
    shownPath = SIGN_IN
    // Nothing of the last user is left for the next one.
    forgetAll()
    forgetPolicy()
    fill(
      main,
      signInView(ended, () => void navigate()),
    )
    document.title = 'Sign in · Bindery'
    shown(address)
    const [blank] = [...main.querySelectorAll('input')].filter(({ value }) => value === '')
    blank?.focus()
    return
  }
  ended = true
  const slow = setTimeout(() => fill(main, loading('the page')), 150)
  try {
    const content = await view()
    if (!mine.signal.aborted) fill(main, content)
  } catch (failure) {
    if (mine.signal.aborted) return
    if (failure instanceof SignedOut) return void navigate()
    fill(
      main,
      h(
        'div',
        {},
        h('h1', { tabindex: -1 }, 'Cannot be shown'),
        problemNote(failure, () => void navigate()),
        h('p', {}, h('a', { href: '#/' }, 'All policies')),
      ),
    )
  } finally {
    clearTimeout(slow)
  }
  if (mine.signal.aborted) return
  shown(address)
  arrive()
}

addEventListener('hashchange', () => void navigate())
addEventListener('bindery:reload', () => {
  forgetPolicy()
  void navigate()
})
// A part of a page that finds the session ended.
main.addEventListener('failed', event => {
  if ((event as CustomEvent<unknown>).detail instanceof SignedOut) void navigate()
})
addEventListener('keydown', event => {
  const target = event.target as HTMLElement
  if (event.key === '/' && !/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
    event.preventDefault()
    document.querySelector<HTMLElement>('#search')?.focus()
  } else if (event.key === 'Escape' && target.id === 'search') main.querySelector<HTMLElement>('h1')?.focus()
})
void navigate()
