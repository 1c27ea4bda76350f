// What a strict product rejects when a policy is priced (docs/strict.md): a path that does not exist, and a premium that nothing
// set. A missing row fails in every product. None of this applies to documents, or to what is already issued.
import type { ReadWithoutValue } from '../../packages/liquid/context.ts'
import { memoByObject } from '../kernel/maps.ts'
import { didYouMean } from '../kernel/text.ts'
import type { FieldDefinition, ProductDefinition } from '../product/configuration.ts'
import { isOfFields } from './template-data.ts'

/** Names of fields anywhere in the product. A field that only another exposure has reads as nothing and is not a mistake. */
const fieldNames = memoByObject((product: ProductDefinition): ReadonlySet<string> => {
  const parts = [product, ...product.exposures, ...product.exposures.flatMap(one => one.perils)]
  return new Set(namesOf(parts.flatMap(one => one.fields)))
})

const namesOf = (fields: readonly FieldDefinition[]): string[] =>
  fields.flatMap(one => [one.name, ...(one.fields ?? []).map(inner => inner.name)])

/**
 * Returns what is wrong with reading something that has no value; undefined if nothing is. A declared field without a value is
 * nothing, and so is everything below it. `data` is everything that the script receives, `own` the parts of it that are always
 * there.
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
    return `Nothing sets '${shown}' before this point, and the product is strict. Correct the name, or set it on every path.`
  }
  if (isOfFields(owner)) {
    const names = fieldNames(product)
    if (names.has(name)) return undefined
    return `There is no field '${name}' ('${shown}'), and the product is strict. Correct the name.${didYouMean(name, [...names])}`
  }
  // Parts that are always complete. A missing optional property of the policy is not a mistake.
  const isWhole = owner === data || Object.values(own).includes(owner)
  if (!isWhole || typeof owner !== 'object' || owner === null || Object.hasOwn(owner, name)) return undefined
  return `There is no '${shown}', and the product is strict. Correct the path.${didYouMean(name, Object.keys(owner))}`
}

/** Returns the message for a peril without a premium. `path` is the script's; undefined if a plugin or a rater gave the rates. */
export const noPremiumMessage = (path: string | undefined, peril: string, exposure: string): string =>
  `${path === undefined ? '' : `${path}: `}nothing sets a premium for the peril '${peril}' of '${exposure}', and the product is strict. Set one on every path, even 0.`
