// Parts of a document on pages of their own size, orientation and margins: children of the body with `page`, and the `@page`
// rules of that name. Word processors save the sections of a document this way.
import type { HtmlElement, HtmlNode } from './html.ts'
import type { ConversionBudget } from './limits.ts'
import { mergedRules, type PageRules } from './page-rules.ts'
import type { Sheet } from './sheet.ts'
import { type Style, styleOf } from './style.ts'

export type Section = {
  /** The body with the children of this section. */
  readonly body: HtmlElement
  readonly rules: PageRules
}

/** Blanks and page breaks between two sections belong to neither. */
export function sectionsOf(
  body: HtmlElement,
  bodyStyle: Style,
  sheet: Sheet,
  budget: ConversionBudget,
): Section[] {
  const { page, namedPages } = sheet
  // The same object for all sections of a name, so that their headers are measured once.
  const merged = new Map([...namedPages].map(([name, own]) => [name, mergedRules(page, own)]))
  const ruleOf = (name = ''): PageRules => merged.get(name) ?? page
  if (namedPages.size === 0) return [{ body, rules: page }]
  const parts: { name: string | undefined; children: HtmlNode[] }[] = []
  for (const child of body.children) {
    const name = typeof child === 'string' ? undefined : styleOf(child, bodyStyle, sheet, budget).page
    const last = parts.at(-1)
    if (last && last.name === (name ?? bodyStyle.page)) last.children.push(child)
    else parts.push({ name: name ?? bodyStyle.page, children: [child] })
  }
  const sections = parts.flatMap(({ name, children }): Section[] => {
    const shown = children.slice(children.findIndex(isShown), children.findLastIndex(isShown) + 1)
    return shown.length === 0 ? [] : [{ body: { ...body, children: shown }, rules: ruleOf(name) }]
  })
  return sections.length === 0 ? [{ body, rules: ruleOf(bodyStyle.page) }] : sections
}

const SHOWN = new Set(['img', 'svg', 'hr', 'table', 'input'])

function isShown(node: HtmlNode): boolean {
  if (typeof node === 'string') return /[^ \t\r\n\f]/.test(node)
  return SHOWN.has(node.tag) || node.children.some(isShown)
}
