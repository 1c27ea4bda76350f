// Elements. Text is only ever text: nothing here, nor anywhere in the console, parses markup.

export type Child = Node | string | false | undefined | null | readonly Child[]

type Attributes = Readonly<
  Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>
>

const append = (parent: Element, children: readonly Child[]): void => {
  for (const child of children) {
    if (child === undefined || child === null || child === false || child === '') continue
    if (typeof child === 'string' || child instanceof Node) parent.append(child)
    else append(parent, child)
  }
}

/** `true` sets an attribute without value, `false` and undefined set none; a function listens to the event named. */
function furnish<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name, value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  append(element, children)
  return element
}

export const h = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] => furnish(document.createElement(tag), attributes, children)

export const s = <Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] =>
  furnish(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)

/** The element with these children in the place of all it has. */
export function fill<E extends Element>(element: E, ...children: Child[]): E {
  element.replaceChildren()
  append(element, children)
  return element
}
