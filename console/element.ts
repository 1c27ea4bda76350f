// Elements and components, as Preact makes them. Text is only ever text: nothing in the console parses markup.
import { type ComponentChildren, type ComponentType, h as create, Fragment, type VNode } from 'preact'

export type View = VNode
export type Child = ComponentChildren

type Attribute =
  | string
  | number
  | boolean
  | undefined
  | ((event: Event) => unknown)
  | { readonly current: unknown }

/** A function listens to the event named; undefined and false set nothing. */
export type Attributes = Readonly<Record<string, Attribute>>

const listening = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      typeof value === 'function' ? `on${name}` : name,
      // `aria-…="false"` means something else than no attribute.
      value === false && name.includes('-') ? undefined : value,
    ]),
  )

/** An element of HTML, or of SVG within `svg`. */
export const h = (tag: string, attributes: Attributes = {}, ...children: Child[]): View =>
  create(tag, listening(attributes), ...children) as View

/** A component: it keeps its state as long as it stands at its place, or under its key. */
export const part = <Props extends object>(
  component: ComponentType<Props>,
  props: Props & { readonly key?: string | number },
): View => create(component as ComponentType<object>, props) as View

/** Several elements in a row, for a component that has no element of its own. */
export const several = (...children: Child[]): View => create(Fragment, {}, ...children) as View

/** What a screen shows of elements; of components nothing. */
export function textOf(child: Child): string {
  if (typeof child === 'string' || typeof child === 'number') return String(child)
  if (Array.isArray(child)) return child.map(textOf).join('')
  if (child && typeof child === 'object' && 'props' in child && typeof child.type === 'string')
    return textOf((child.props as { children?: Child }).children)
  return ''
}
