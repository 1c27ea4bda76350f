// The console: a frame, and in it the page that the address after the # names. All data comes from the public interface.
import { render } from 'preact'
import { loadPart, SignedOut } from './api.ts'
import { type Child, h, part, type View } from './element.ts'
import { forgetAll } from './find.ts'
import { skipLink, topBar } from './frame.ts'
import { desk } from './open-desk.ts'
import { loading, problemNote } from './parts.ts'
import { endSession, session } from './session.ts'
import { mayLeave, questionNow } from './unsaved.ts'
import { holderView, homeView, searchView } from './view/home.ts'
import { SignIn } from './view/sign-in.ts'
import { FRAME, SIGN_IN as SIGN_IN_WORDS } from './words.ts'

const root = document.body.appendChild(document.createElement('div'))

let leaving = new AbortController()
let ended = false
/** The path that was shown last: kind and name. Undefined when the page has just been opened. */
let shownPath: string | undefined
const SIGN_IN = 'sign-in'

/** The content of the frame. Each visit to an address creates a new page, which keeps nothing of the one before. */
type Page = {
  readonly visit: number
  readonly content: Child
  readonly shows?: string | undefined
  /** A message about what was done last. */
  readonly said?: string | undefined
}

let page: Page = { visit: 0, content: undefined }
let visits = 0

function draw(changes: Partial<Page>): void {
  page = { ...page, ...changes }
  const { parts, query } = route()
  const asked = parts[0] === 'search' ? (query.get('q') ?? '') : ''
  render(
    h(
      'div',
      { class: 'frame' },
      skipLink(),
      topBar(session(), asked, signOut),
      h('div', { class: 'done', role: 'status' }, page.said && h('p', {}, page.said)),
      h(
        'main',
        {
          id: 'main',
          // The address in the browser can differ for a moment.
          'data-shows': page.shows,
          'aria-busy': page.shows === undefined ? 'true' : undefined,
          failed: event => {
            // A part of the page found that the session has ended.
            if ((event as CustomEvent<unknown>).detail instanceof SignedOut) void navigate()
          },
        },
        h('div', { key: page.visit }, page.content),
      ),
    ),
    root,
  )
}

const heading = (): HTMLElement | null => root.querySelector<HTMLElement>('main h1')

/** Parses the address after the #. */
function route(): { parts: string[]; query: URLSearchParams } {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const decodePart = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  }
  return { parts: path.split('/').filter(Boolean).map(decodePart), query: new URLSearchParams(query) }
}

function signOut(): void {
  if (!mayLeave()) return
  endSession()
  ended = false
  location.hash = '#/'
  void navigate()
}

// Modules that the first page does not need are loaded when their pages are opened.
const workPages = () => loadPart(() => import('./lists/list.ts'))
const policyPages = () => loadPart(() => import('./view/policy.ts'))
const figurePages = () => loadPart(() => import('./view/figures.ts'))
const tenantPages = () => loadPart(() => import('./tenant/tenant.ts'))

/** Drops the policy that is kept between its views. */
let forgetPolicy = (): void => {}

async function view(): Promise<View> {
  const { signal } = leaving
  const { parts, query } = route()
  const [kind, name, tab = '', product = ''] = parts
  if (kind === 'policy' && name) {
    const policies = await policyPages()
    forgetPolicy = policies.forgetPolicy
    return await policies.policyView(name, tab, signal)
  }
  forgetPolicy()
  if (kind === 'policyholder' && name) return await holderView(name, signal)
  if (kind === 'figures') {
    const { figureLinesView, figuresView } = await figurePages()
    return name ? await figureLinesView(name, query, signal) : figuresView(query, signal)
  }
  if (kind === 'new' && name) {
    const { newHolderView, newQuoteView } = await desk()
    if (name === 'quote' && tab !== '') return await newQuoteView(tab, product)
    if (name === 'policyholder') return await newHolderView()
  }
  if (kind === 'tenant') return (await tenantPages()).tenantView(parts.slice(1), query, signal)
  if (kind === 'work') return (await workPages()).workView(name ?? '', query, signal)
  if (kind === 'search') return searchView(query.get('q')?.trim() ?? '', signal)
  if (!kind) return homeView(signal)
  return h(
    'div',
    {},
    h('h1', { tabindex: -1 }, FRAME.notFound),
    h('p', {}, FRAME.noPage),
    h('p', {}, h('a', { href: '#/' }, FRAME.overview)),
  )
}

/** Scrolls the tabs sideways, which do not fit a narrow screen, until the tab is in the middle. The page itself stays where it is. */
function centre(tab: HTMLElement): void {
  const tabs = tab.parentElement!
  const { left, width } = tab.getBoundingClientRect()
  tabs.scrollLeft += left - tabs.getBoundingClientRect().left - (tabs.clientWidth - width) / 2
}

/** Names the page after its heading, and moves the focus of screen readers there. */
function finishNavigation(): void {
  const { parts } = route()
  const about = parts[0] === 'policy' ? FRAME.policy(parts[1] ?? '') : (heading()?.textContent ?? '')
  document.title = about ? FRAME.title(about) : FRAME.name
  const path = parts.slice(0, 2).join('/')
  const tab = root.querySelector<HTMLElement>('.tabs [aria-current]')
  if (tab) centre(tab)
  // Between views of the same policy, the focus stays on the link that was followed.
  if (path === shownPath && parts[0] === 'policy') tab?.focus()
  // A page that has just been loaded keeps the focus at its beginning, as usual in browsers.
  else if (shownPath !== undefined) heading()?.focus()
  shownPath = path
}

async function navigate(): Promise<void> {
  const address = location.hash
  leaving.abort()
  const mine = new AbortController()
  leaving = mine
  if (!session()) {
    shownPath = SIGN_IN
    // Leaves nothing of the last user for the next one.
    forgetAll()
    forgetPolicy()
    draw({ visit: ++visits, content: part(SignIn, { ended, done: () => void navigate() }), shows: address })
    document.title = FRAME.title(SIGN_IN_WORDS.signIn)
    return
  }
  draw({ shows: undefined })
  ended = true
  const wait = (): void => {
    if (!mine.signal.aborted) draw({ visit: ++visits, content: loading(FRAME.loadsPage) })
  }
  const slow = setTimeout(wait, 150)
  try {
    const content = await view()
    clearTimeout(slow)
    if (!mine.signal.aborted) draw({ visit: ++visits, content, shows: address })
  } catch (failure) {
    clearTimeout(slow)
    if (mine.signal.aborted) return
    if (failure instanceof SignedOut) return void navigate()
    draw({
      visit: ++visits,
      shows: address,
      content: h(
        'div',
        {},
        h('h1', { tabindex: -1 }, FRAME.notShown),
        problemNote(failure, () => void navigate()),
        h('p', {}, h('a', { href: '#/' }, FRAME.overview)),
      ),
    })
  }
  if (!mine.signal.aborted) finishNavigation()
}

addEventListener('hashchange', ({ oldURL }) => {
  if (!mayLeave()) {
    // The page stays, and gets its address back.
    history.pushState(null, '', oldURL)
    return
  }
  // A message appears on the page to which the action leads, and disappears on the next page.
  if (!isJustSaid) draw({ said: undefined })
  isJustSaid = false
  void navigate()
})
// Browsers ask it in their own words.
addEventListener('beforeunload', event => {
  if (questionNow() !== undefined) event.preventDefault()
})
let isJustSaid = false
addEventListener('bindery:said', event => {
  isJustSaid = true
  draw({ said: (event as CustomEvent<string>).detail })
})
addEventListener('bindery:reload', () => {
  isJustSaid = false
  forgetPolicy()
  void navigate()
})
addEventListener('keydown', event => {
  const target = event.target as HTMLElement
  if (event.key === '/' && !/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
    event.preventDefault()
    document.querySelector<HTMLElement>('#search')?.focus()
  } else if (event.key === 'Escape' && target.id === 'search') heading()?.focus()
})
void navigate()
