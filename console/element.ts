// Elements and components of Preact. Text is only ever text: nothing in the console parses markup.
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

/** A function becomes a listener for the event of that name. Undefined and false set no attribute. */
export type Attributes = Readonly<Record<string, Attribute>>

const withListeners = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      typeof value === 'function' ? `on${name}` : name,
      // False removes the attribute. Preact would set `aria-…="false"`, which differs from no attribute.
      value === false && name.includes('-') ? undefined : value,
    ]),
  )

/** Creates an HTML element, or an SVG element within `svg`. */
export const h = (tag: string, attributes: Attributes = {}, ...children: Child[]): View =>
  create(tag, withListeners(attributes), ...children) as View

/** Creates a component. It keeps its state as long as it stays in its place or under its key. */
export const part = <Props extends object>(
  component: ComponentType<Props>,
  props: Props & { readonly key?: string | number },
): View => create(component as ComponentType<object>, props) as View

/** Groups several elements without a parent, for a component that has no element of its own. */
export const fragment = (...children: Child[]): View => create(Fragment, {}, ...children) as View

/** Returns the text that a screen shows for elements. Components give none. */
export function textOf(child: Child): string {
  if (typeof child === 'string' || typeof child === 'number') return String(child)
  if (Array.isArray(child)) return child.map(textOf).join('')
  if (child && typeof child === 'object' && 'props' in child && typeof child.type === 'string')
    return textOf((child.props as { children?: Child }).children)
  return ''
}
