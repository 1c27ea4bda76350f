// Which calls fill a request in, and in what order (brief 5.6, "Autofill order").

import { invalidRequest } from '../../../kernel/errors.ts'
import type { AutofillOperations } from '../../../platform/tenancy/control-tables.ts'
import type { AutofillInput } from '../../plugins/contract.ts'

/** The name of the product's own plugin in call sequences; every other name is an integration's. */
export const INTERNAL = 'internal'

/** The parts of an operation that is filled in. */
export type Filling = Pick<AutofillInput, 'operation' | 'operationType' | 'productName'>

/** The names under which the operation may be registered; the first registered one counts. */
const namesOf = ({ productName, operation, operationType }: Filling): string[] => [
  `${productName}.${operation}.${operationType}`,
  `${productName}.${operation}.*`,
  `${productName}.*.*`,
  '*.*.*',
]

export const isOperationName = (name: string): boolean =>
  name === '*.*.*' ||
  (/^.+\.(\*\.\*|(newBusiness|endorsement|renewal)\.(create|update|\*))$/s.test(name) &&
    !name.startsWith('*.'))

/**
 * The calls in order; each sees what earlier ones filled in. The request's own list counts first (an empty list means no
 * calls), then the registered operation that fits best, then the product's plugin if policy.json switches it on (the brief does
 * not say; switching it on means that it should be called). An operation may be registered for products without a plugin; a
 * request that names a missing plugin is refused (400).
 */
export function callSequence(
  asked: readonly string[] | undefined,
  registered: AutofillOperations,
  filling: Filling,
  hasPlugin: boolean,
): readonly string[] {
  if (asked) {
    if (asked.includes(INTERNAL) && !hasPlugin)
      throw invalidRequest(
        `autofill names '${INTERNAL}', the plugin getDataAutofill, which product '${filling.productName}' does not switch on; leave it out.`,
      )
    return asked
  }
  const name = namesOf(filling).find(one => Object.hasOwn(registered, one))
  if (name === undefined) return hasPlugin ? [INTERNAL] : []
  return registered[name]!.callSequence.filter(one => one !== INTERNAL || hasPlugin)
}
