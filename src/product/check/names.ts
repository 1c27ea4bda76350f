import type { JsonPath } from './json/read.ts'
import type { Place, Report } from './report.ts'

/** Reports every name that an earlier entry of the list has already. `kind` is what a message calls an entry. */
export function checkUniqueNames(
  names: readonly { name: string; path: JsonPath }[],
  kind: string,
  place: (path: JsonPath) => Place,
  report: Report,
): void {
  const seen = new Set<string>()
  for (const { name, path } of names) {
    if (seen.has(name))
      report.error(
        place(path),
        'duplicateName',
        `Another ${kind} has the name '${name}' too. Rename or remove one of them.`,
      )
    seen.add(name)
  }
}

const FORBIDDEN_IN_PRODUCT_NAMES = /[$@=;/\\:+,{}^%`[\]><~#*?|\p{Cc}]|\p{Extended_Pictographic}/gu

/** A product is called like its folder, without characters that paths and reports cannot carry (brief 5.1). */
export function checkProductName(name: string, path: string, report: Report): void {
  const found = [...new Set(name.match(FORBIDDEN_IN_PRODUCT_NAMES) ?? [])]
  if (found.length > 0 || name === '__proto__')
    report.error(
      { path },
      'badName',
      found.length > 0
        ? `The product name '${name}' must not contain ${found.join(' ')}. Rename the folder.`
        : `The product name '${name}' is a reserved word. Rename the folder.`,
    )
}

/** What people read when a file gives only a name: `personal-auto` becomes `Personal Auto`. */
export const displayNameOf = (name: string): string =>
  name
    .split(/[_\-\s]+/)
    .filter(word => word !== '')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join(' ') || name
