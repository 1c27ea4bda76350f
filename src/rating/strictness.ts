// What a strict product refuses when a policy is priced (docs/strict.md): a path that there is not, and a premium that
// nothing set. A missing row fails in every product. Nothing of it holds for documents, or for what is issued.
import type { ReadWithoutValue } from '../../packages/liquid/context.ts'
import { memoByObject } from '../kernel/maps.ts'
import { didYouMean } from '../kernel/text.ts'
import type { FieldDefinition, ProductDefinition } from '../product/configuration.ts'
import { isOfFields } from './template-data.ts'

/** Names of fields anywhere in the product: one that another exposure has is nothing, and no mistake. */
const fieldNames = memoByObject((product: ProductDefinition): ReadonlySet<string> => {
  const parts = [product, ...product.exposures, ...product.exposures.flatMap(one => one.perils)]
  return new Set(namesOf(parts.flatMap(one => one.fields)))
})

const namesOf = (fields: readonly FieldDefinition[]): string[] =>
  fields.flatMap(one => [one.name, ...(one.fields ?? []).map(inner => inner.name)])

/**
 * A field that is declared and has no value is nothing; so is what lies behind it. `data` is all that the script is
 * given, `own` what of it is there in any case.
 */
export function problemOfRead(
  { path, at, owner, isSet, isTested }: ReadWithoutValue,
  product: ProductDefinition,
  { data, own }: { readonly data: object; readonly own: object },
): string | undefined {
  const name = path[at]!
  const shown = path.slice(0, at + 1).join('.')
  if (at === 0) {
    if (isSet || isTested) return undefined
    return `Nothing has set '${shown}' here, and the product is strict. Correct the name, or set it on every path.`
  }
  if (isOfFields(owner)) {
    const names = fieldNames(product)
    if (names.has(name)) return undefined
    return `There is no field '${name}' ('${shown}'), and the product is strict. Correct the name.${didYouMean(name, [...names])}`
  }
  // Parts that are always whole; optional properties of the policy are no mistake.
  const isWhole = owner === data || Object.values(own).includes(owner)
  if (!isWhole || typeof owner !== 'object' || owner === null || Object.hasOwn(owner, name)) return undefined
  return `There is no '${shown}', and the product is strict. Correct the path.${didYouMean(name, Object.keys(owner))}`
}

/** `path` is that of the script; undefined where a plugin or a rater gave the rates. */
export const nothingSet = (path: string | undefined, peril: string, exposure: string): string =>
  `${path === undefined ? '' : `${path}: `}nothing sets a premium for the peril '${peril}' of '${exposure}', and the product is strict. Set one on every path, even 0.`
