// The calls that fill in a request, and their order (brief 5.6, "Autofill order").

import { invalidRequest } from '../../../kernel/errors.ts'
import type { AutofillOperations } from '../../../platform/tenancy/control-tables.ts'
import type { AutofillInput } from '../../plugins/contract.ts'

/** The name of the product's own plugin in call sequences. Every other name is that of an integration. */
export const INTERNAL = 'internal'

export type Filling = Pick<AutofillInput, 'operation' | 'operationType' | 'productName'>

/** The names under which an operation may be registered, most specific first; the first one that is registered counts. */
const namesOf = ({ productName, operation, operationType }: Filling): string[] => [
  `${productName}.${operation}.${operationType}`,
  `${productName}.${operation}.*`,
  `${productName}.*.*`,
  '*.*.*',
]

/**
 * Whether calls may be registered under the name: `product.operation.step`, where `*` stands for the step, for operation and
 * step, or for all three.
 */
export const isOperationName = (name: string): boolean =>
  name === '*.*.*' ||
  (/^.+\.(\*\.\*|(newBusiness|endorsement|renewal)\.(create|update|\*))$/s.test(name) &&
    !name.startsWith('*.'))

/**
 * Returns the calls in order; each sees the results of earlier ones. The request's own list comes first (an empty list means no
 * calls), then the registered operation that fits best, then the product's plugin if policy.json enables it (the brief does not
 * say). An operation may name the plugin even for products without one; a request may not (400).
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
        `autofill contains '${INTERNAL}', the plugin getDataAutofill, but product '${filling.productName}' does not enable it; leave it out.`,
      )
    return asked
  }
  const name = namesOf(filling).find(one => Object.hasOwn(registered, one))
  if (name === undefined) return hasPlugin ? [INTERNAL] : []
  return registered[name]!.callSequence.filter(one => one !== INTERNAL || hasPlugin)
}
