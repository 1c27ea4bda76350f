// The input of a page of the tenant, and what the page shows.
import type { ActionButton } from '../action-buttons.ts'
import { SimpleDeed } from '../desk/simple.ts'
import { type Child, h, part, type View } from '../element.ts'
import { TENANT } from './words.ts'

export type Opened = {
  /** The parts of the address after the page. */
  readonly rest: readonly string[]
  readonly query: URLSearchParams
  readonly signal: AbortSignal
  readonly held: ReadonlySet<string>
}

export type Shown = { readonly title: Child; readonly content: Child }

export const mayAny = (held: ReadonlySet<string>, ...names: readonly string[]): boolean =>
  names.some(name => held.has(name))

type Confirmed = {
  readonly text: string
  readonly permissions: readonly string[]
  readonly title: string
  readonly about: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** The message shown once it is done. */
  readonly done: string
}

/** A button that explains the effect, asks for confirmation, and then sends the request. */
export const confirmButton = ({
  text,
  permissions,
  title,
  about,
  method,
  path,
  body,
  done,
}: Confirmed): ActionButton => ({
  text,
  permissions,
  open: async close =>
    part(SimpleDeed, {
      title,
      done,
      close,
      confirm: text,
      about: h('p', {}, about),
      request: { method, path, ...(body !== undefined && { body }) },
    }),
})

/** Reloads the content of the page. */
export const reloadButton = (): View =>
  h(
    'button',
    { type: 'button', class: 'quiet', click: () => dispatchEvent(new Event('bindery:reload')) },
    TENANT.reload,
  )

/** A link back and the reload button. */
export const backLine = (href: string | undefined, text = '', ...more: Child[]): View =>
  h('p', { class: 'under' }, href !== undefined && h('a', { href }, text), ...more, reloadButton())
