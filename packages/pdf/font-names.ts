// Which files of a configuration a document's `@font-face` rules name.

/** Files of fonts by their names. */
export type OwnFontFiles = ReadonlyMap<string, Uint8Array>

/** A source of a style sheet that is a file of the configuration: a name, without a scheme or a folder. */
const FONT_SOURCE = /url\(\s*["']?([^"'():/]{1,200}\.(?:ttf|otf|woff2?))["']?\s*\)/gi

/** The names in `@font-face` rules, each once. */
export function fontNames(html: string): string[] {
  const names = new Set<string>()
  const rules = html.split(/@font-face\s*\{/i).slice(1)
  for (const rule of rules)
    for (const [, name] of rule.slice(0, (rule.indexOf('}') + 1 || 1) - 1).matchAll(FONT_SOURCE))
      names.add(name!.trim())
  return [...names]
}

const mediaType = (name: string): string => {
  const ending = name.trim().split('.').at(-1)!.toLowerCase()
  return ending.startsWith('woff') ? `font/${ending}` : 'font/sfnt'
}

/** The HTML with the files that `@font-face` names in their places. */
export const withFonts = (html: string, fonts: OwnFontFiles): string =>
  fonts.size === 0
    ? html
    : html.replace(FONT_SOURCE, (whole, name: string) => {
        const bytes = fonts.get(name.trim())
        return bytes ? `url(data:${mediaType(name)};base64,${Buffer.from(bytes).toString('base64')})` : whole
      })
