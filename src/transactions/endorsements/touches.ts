// How far an endorsement reaches into its policy: what it rates anew, and which exposures it can change anything of.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type EndorsementChanges, namedExposures } from '../../policy/records/changes.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import type { Part } from '../../policy/surroundings.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { Repricing } from './content.ts'
import type { EndorsementOperation } from './decision.ts'

/** What the type says; `input` asks the request, which must answer. */
export function repricingOf(
  product: ProductDefinition,
  name: string,
  changes: EndorsementChanges,
): Repricing {
  const type = product.endorsements.find(one => one.name === name)
  if (!type)
    throw new Refusal(
      'invalidRequest',
      `The policy's configuration has no endorsement '${name}' any more; discard this one, and apply for another.`,
    )
  switch (type.reprice) {
    case 'all':
      return 'all'
    case 'always':
      return 'changed'
    case 'input':
      if (changes.reprice === undefined)
        throw new Refusal('invalidRequest', `Endorsement '${name}' needs reprice: send true or false.`)
      return changes.reprice ? 'changed' : 'never'
    default:
      return 'never'
  }
}

/**
 * The exposures that its changes name; undefined where they reach the whole policy: where its other exposures are rated
 * anew or end at another time, or what was planned to be invoiced for them moves.
 */
export function touchesOf(
  { kind, name, changes, endAt }: Pick<Endorsement, 'kind' | 'name' | 'changes' | 'endAt'>,
  product: ProductDefinition,
): readonly Uuid[] | undefined {
  if (kind === 'renewal' || endAt !== undefined || changes.newPaymentScheduleName !== undefined)
    return undefined
  const repricing = repricingOf(product, name, changes)
  if (repricing === 'all' || (repricing === 'changed' && changesPolicy(changes))) return undefined
  return namedExposures(changes) as Uuid[]
}

const changesPolicy = (changes: EndorsementChanges): boolean =>
  Object.keys(changes.fieldValues ?? {}).length > 0 ||
  [changes.addFieldGroups, changes.updateFieldGroups, changes.removeFieldGroups].some(list => list?.length)

/** The part of the policy that may be enough for the operation; undefined for renewals, which go over all of it. */
export function partOf(operation: EndorsementOperation): Part | undefined {
  switch (operation.action) {
    case 'create':
      return { exposures: namedExposures(operation.request) }
    case 'renew':
      return undefined
    case 'update':
      return { exposures: namedExposures(operation.update), endorsement: operation.endorsement }
    default:
      return { exposures: [], endorsement: operation.endorsement }
  }
}
