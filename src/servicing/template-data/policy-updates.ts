// `policy_updates` of endorsements and renewals in the tree, as transactions/documents/policy-updates.ts builds it.
import type { DataNode } from '../../product/templates/data-tree.ts'

const text = (description: string, values?: readonly string[]): DataNode => ({
  type: 'text',
  description,
  ...(values && { values }),
})

const record = (description: string, members: Record<string, DataNode>): DataNode => ({
  type: 'record',
  description,
  members,
})

const map = (description: string, items: DataNode): DataNode => ({ type: 'map', description, items })

const list = (description: string, items: DataNode): DataNode => ({ type: 'list', description, items })

const effect = (): DataNode =>
  text('The effect of the transaction.', ['unchanged', 'updated', 'added', 'removed'])

const fieldChange = (description = 'One field.', title = 'The title of the field.'): DataNode =>
  record(description, {
    title: text(title),
    old_value: text('The value before the transaction. Several values are joined by commas.'),
    new_value: text('The value after the transaction.'),
    endorsement_effect: effect(),
  })

const dataChange = (of: string): Record<string, DataNode> => ({
  all_field_values: map(`The fields of the ${of} with a value before or after, by name.`, fieldChange()),
  updated_field_values: map(`The fields of the ${of} that change, by name.`, fieldChange()),
  updated_field_groups: map(
    `The field groups of the ${of} that change, by the name of the group field.`,
    list(
      'The field groups of one field.',
      record('One field group.', {
        locator: text('Locator of the field group.'),
        title: text('The title of the group field.'),
        endorsement_effect: effect(),
        updated_field_values: map('Its fields that change, by name.', fieldChange()),
      }),
    ),
  ),
})

const partChange = (of: string): Record<string, DataNode> => ({
  locator: text(`Locator of the ${of}.`),
  name: text(`The ${of}, as named in the configuration.`),
  display_name: text(`The name for people.`),
  endorsement_effect: effect(),
  ...dataChange(of),
})

const amountChange = (of: string): DataNode => ({
  ...fieldChange(`The ${of}. Nothing if it has no value before and after.`, 'Its name for people.'),
  isOptional: true,
})

const perilAmounts = (): Record<string, DataNode> => ({
  deductible: amountChange('deductible'),
  lump_sum_payment: amountChange('lump sum'),
  indemnity_in_aggregate: amountChange('maximum paid for all losses of the term'),
  indemnity_per_event: amountChange('maximum paid for one loss'),
  indemnity_per_item: amountChange('maximum paid for one damaged item'),
})

/** The changes of the policy and of each exposure and peril. Empty until the transaction is quoted. */
export const policyUpdates = (): DataNode =>
  record('The changes of the transaction. Empty until it is quoted.', {
    ...dataChange('policy'),
    updated_exposures: map(
      'The exposures that change, by name.',
      list(
        'Exposures with the same name.',
        record('One exposure.', {
          ...partChange('exposure'),
          updated_perils: map(
            'Its perils that change, by name.',
            list(
              'Perils with the same name.',
              record('One peril.', { ...partChange('peril'), ...perilAmounts() }),
            ),
          ),
        }),
      ),
    ),
  })
