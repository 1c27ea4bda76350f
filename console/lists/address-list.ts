// Lists whose filters and page are in the address. An address may be typed, shortened or old, so its values are checked first.
import { Problem } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { loadedSection } from '../parts.ts'
import type { Option } from './filters.ts'
import { WORDS } from './words.ts'

export const choiceFault = (label: string, options: readonly Option[], value: string): string | undefined =>
  value === '' || options.some(([name]) => name === value) ? undefined : WORDS.notAChoice(label, value)

/** `value` is a count from 1 to `most`. */
export const countFault = (label: string, most: number, value: string): string | undefined =>
  value === '' || (/^\d{1,9}$/.test(value) && Number(value) >= 1 && Number(value) <= most)
    ? undefined
    : WORDS.notACount(label, most)

/** Whether the text is a day of the calendar, such as 2026-11-01. */
function isDay(text: string): boolean {
  const ms = /^[1-9]\d{3}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00Z`) : Number.NaN
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

export const dayFault = (label: string, value: string): string | undefined =>
  value === '' || isDay(value) ? undefined : WORDS.notADay(label)

type Listed = {
  readonly what: string
  /** What is wrong with the filters. With any fault, nothing is requested. */
  readonly faults: readonly (string | undefined)[]
  /** The token of the page. Empty for the first page. */
  readonly from: string
  /** The address without any filter, and the address of the first page with the same filters. */
  readonly whole: string
  readonly firstPage: string
  readonly load: () => Promise<Child>
}

const notice = (texts: readonly string[], address: string, link: string): View =>
  h(
    'div',
    { class: 'notice', role: 'alert' },
    texts.map(text => h('p', {}, text)),
    h('p', {}, h('a', { href: address }, link)),
  )

/** Loads the list, or says which value of the address it does not accept. */
export function addressedList({ what, faults, from, whole, firstPage, load }: Listed): View {
  const found = faults.filter(fault => fault !== undefined)
  if (found.length > 0) return notice(found, whole, WORDS.showAll)
  return loadedSection(what, () =>
    load().catch((failure: unknown) => {
      if (from !== '' && isUnknownPage(failure)) return notice([WORDS.noPage], firstPage, WORDS.firstPage)
      throw failure
    }),
  )
}

/** Whether the service rejects the token of the page, which is the number of rows before it in some lists. */
const isUnknownPage = (failure: unknown): boolean =>
  failure instanceof Problem && failure.status === 400 && /^'(?:pagingToken|offset)' /.test(failure.message)
