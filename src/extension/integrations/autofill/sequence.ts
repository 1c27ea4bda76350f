// Which calls fill a request in, and in which order (brief 5.6, "Autofill order").

import { Refusal } from '../../../kernel/errors.ts'
import type { AutofillOperations } from '../../../platform/control-tables.ts'
import type { AutofillInput } from '../../plugins/contract.ts'

/** What call sequences name the product's own plugin; every other name is an integration's. */
export const INTERNAL = 'internal'

/** What is filled in: an operation's three parts. */
export type Filling = Pick<AutofillInput, 'operation' | 'operationType' | 'productName'>

/** The names under which the operation may be registered; the first that is counts. */
const namesOf = ({ productName, operation, operationType }: Filling): string[] => [
  `${productName}.${operation}.${operationType}`,
  `${productName}.${operation}.*`,
  `${productName}.*.*`,
  '*.*.*',
]

/** Whether an operation of that name can ever be found. */
export const isOperationName = (name: string): boolean =>
  name === '*.*.*' ||
  (/^.+\.(\*\.\*|(newBusiness|endorsement|renewal)\.(create|update|\*))$/s.test(name) &&
    !name.startsWith('*.'))

/**
 * The calls in their order; each sees what those before it filled in. What the request says counts, and an empty list is
 * none; else the registered operation that fits best; else the product's plugin, where it is switched on: whoever
 * switches it on in policy.json means it to be called (the brief is silent on that). An operation may be registered for
 * products that have no plugin; a request that asks for one which is not there is refused (400).
 */
export function callSequence(
  asked: readonly string[] | undefined,
  registered: AutofillOperations,
  filling: Filling,
  hasPlugin: boolean,
): readonly string[] {
  if (asked) {
    if (asked.includes(INTERNAL) && !hasPlugin)
      throw new Refusal(
        'invalidRequest',
        `autofill names '${INTERNAL}', the plugin getDataAutofill, which product '${filling.productName}' does not switch on; leave it out.`,
      )
    return asked
  }
  const name = namesOf(filling).find(one => Object.hasOwn(registered, one))
  if (name === undefined) return hasPlugin ? [INTERNAL] : []
  return registered[name]!.callSequence.filter(one => one !== INTERNAL || hasPlugin)
}
