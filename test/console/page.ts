// The console in a real browser, and checks for any of its pages. Expressions are texts, because they are evaluated in the page.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { BROWSER, fontsIn } from '../../packages/pdf/test/browser.ts'

export { BROWSER }

/** The views of a policy, as suffixes of its URL. */
export const POLICY_TABS = [
  '',
  '/cover',
  '/transactions',
  '/billing',
  '/documents',
  '/events',
  '/quotes',
  '/worksheet',
  '/notes',
]

export type ConsoleBrowser = {
  /** Opens a page with empty storage. `faults` are script errors and violations of the page's policy. */
  open(options?: BrowserContextOptions): Promise<{ page: Page; faults: string[] }>
  /** Closes what it has opened. */
  close(): Promise<void>
}

/** Configures the service's own fonts, even for pages that request the system font. */
function onlyOurFonts(folder: string): string {
  const file = fontsIn(folder)
  const rule =
    '<match target="pattern"><edit name="family" mode="append" binding="weak"><string>Noto Sans</string></edit></match>'
  writeFileSync(file, readFileSync(file, 'utf8').replace('</fontconfig>', `${rule}</fontconfig>`))
  return file
}

/** The browser of this process, for all files that it runs; it ends with the process. Headless, with the service's own fonts. */
let launched: Promise<Browser> | undefined

function launch(): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-console-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return chromium.launch({
    executablePath: BROWSER!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { ...process.env, FONTCONFIG_FILE: onlyOurFonts(folder) } as Record<string, string>,
  })
}

/** Opens pages in British English. */
export async function startBrowser(): Promise<ConsoleBrowser> {
  launched ??= launch()
  const browser = await launched
  const contexts: BrowserContext[] = []
  return {
    async open(options = {}) {
      const context = await browser.newContext({ ...PLAIN, ...options })
      contexts.push(context)
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      const faults: string[] = []
      page.on('pageerror', error => faults.push(error.message))
      page.on('console', message => {
        if (/Content Security Policy|TrustedHTML/.test(message.text())) faults.push(message.text())
      })
      return { page, faults }
    },
    async close() {
      for (const context of contexts) await context.close()
    },
  }
}

/**
 * Without motion: an animated placeholder is painted sixty times a second while a page waits for the service, which nobody sees.
 */
const PLAIN: BrowserContextOptions = {
  locale: 'en-GB',
  viewport: { width: 1280, height: 860 },
  reducedMotion: 'reduce',
}

const LONGEST_WAIT_MS = 60_000

/**
 * Waits until the expression is true. The page polls it in a function that it is given, because its policy forbids creating one.
 */
export async function until(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + LONGEST_WAIT_MS
  const becomesTrue = `new Promise(done => {
    const look = () => {
      try { if (${expression}) return done(true) } catch {}
      if (Date.now() > ${deadline}) return done(false)
      setTimeout(look, 20)
    }
    look()
  })`
  // During a navigation there is no page to evaluate in.
  while (!(await page.evaluate(becomesTrue).catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`It did not become true: ${expression}`)
    await sleep(25)
  }
}

/** Loads the page of the address again. Going through another page would make the browser start a process each time. */
export async function goAnew(page: Page, address: string): Promise<void> {
  if (page.url().split('#')[0] === address.split('#')[0]) {
    await page.evaluate(`history.replaceState(null, '', ${JSON.stringify(address)})`)
    await page.reload()
  } else await page.goto(address)
  await settled(page)
}

/** Waits until the page shows the view of its address and has nothing left to load. */
export const settled = (page: Page): Promise<void> =>
  until(
    page,
    `document.querySelector('h1') && document.querySelector('main').dataset.shows === location.hash && !document.querySelector('[aria-busy], .loading, .pending, .sign-in [disabled]')`,
  )

/** Controls without a name, duplicate ids, tables without a caption, and missing headings and landmarks. There should be none. */
export const unlabelled = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = []
    for (const control of document.querySelectorAll('input, button, a, summary, [tabindex="0"]')) {
      const label = control.getAttribute('aria-label') || control.textContent.trim()
        || [...(control.labels ?? [])].map(one => one.textContent).join(' ').trim()
      if (!label) found.push(control.outerHTML.slice(0, 120))
    }
    const ids = [...document.querySelectorAll('[id]')].map(one => one.id)
    found.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map(id => 'twice: ' + id))
    for (const [name, many] of [['h1', 1], ['main', 1], ['header.top', 1]])
      if (document.querySelectorAll(name).length !== many) found.push(name)
    for (const table of document.querySelectorAll('table')) if (!table.caption?.textContent) found.push('a table without caption')
    return found
  })()`) as Promise<string[]>

/** Texts that are hard to read: contrast below 4.5 (WCAG 1.4.3), each with its contrast. Disabled controls are exempt. */
export const faintTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
    const known = new Map()
    const rgba = text => {
      if (!known.has(text)) known.set(text, painted(text))
      return known.get(text)
    }
    const painted = text => {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = text
      canvas.fillRect(0, 0, 1, 1)
      return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const over = (upper, lower) => {
      const alpha = upper[3] / 255
      return [0, 1, 2].map(at => upper[at] * alpha + lower[at] * (1 - alpha)).concat(255)
    }
    const backdrop = element => {
      if (!element) return rgba(getComputedStyle(document.body).backgroundColor)
      const own = rgba(getComputedStyle(element).backgroundColor)
      return own[3] === 255 ? own : over(own, backdrop(element.parentElement))
    }
    const light = color => {
      const [r, g, b] = color.slice(0, 3).map(one => one / 255).map(one => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05)
    const found = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      if (!node.textContent.trim() || !element.checkVisibility() || element.closest('script, style, [disabled], .hidden, .skip')) continue
      const style = getComputedStyle(element)
      const segment = element.closest('.segment')
      if (segment?.classList.contains('later')) continue
      const behind = segment
        ? over(rgba(getComputedStyle(segment.querySelector('rect')).fill), backdrop(document.querySelector('.timeline')))
        : backdrop(element.closest('svg') ?? element)
      const ink = rgba(element.namespaceURI.endsWith('svg') ? style.fill : style.color)
      const is = contrast(over(ink, behind), behind)
      if (is < 4.5) found.push(is.toFixed(2) + ' ' + node.textContent.trim().slice(0, 60) + ' ' + element.className)
    }
    return [...new Set(found)]
  })()`) as Promise<string[]>

/** Whether the page is wider than the window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth') as Promise<boolean>

/** Texts that end to the right of the card, table or page that contains them, where they are cut off. */
export const cutTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = []
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      if (!node.textContent.trim() || !element.checkVisibility() || element.closest('.tabs, svg, .hidden, thead')) continue
      const text = document.createRange()
      text.selectNodeContents(node)
      const { right } = element.closest('td, th, .card, main').getBoundingClientRect()
      if (text.getBoundingClientRect().right > right + 1) found.push(node.textContent)
    }
    return found
  })()`) as Promise<string[]>

/** Texts of badges that are too wide: the text should fill its badge except for a rounded end on each side. */
export const stretchedBadges = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.badge')].filter(badge => {
    const text = document.createRange()
    text.selectNodeContents(badge)
    return badge.getBoundingClientRect().width > text.getBoundingClientRect().width + 24
  }).map(badge => badge.textContent)`) as Promise<string[]>

/** The accessible name of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(
    `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.id ?? ''`,
  ) as Promise<string>
