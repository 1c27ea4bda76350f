// What the configuration says of a document that is to be made: found again by its template and file name, so that a
// document follows the version of the configuration that its template is of. Pure.

import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { PolicyDocument } from '../../policy/records/document.ts'
import { basisAt, selectionBasis } from '../../policy/selection-basis.ts'
import {
  type DocumentDefinition,
  documentDefinitions,
  type ProductDefinition,
} from '../../product/configuration.ts'
import type { SelectionBasis } from '../../product/resources.ts'

/** Of several of one template the one with the file's name; undefined for documents of templates of fixed names. */
export function definitionOf(
  product: ProductDefinition,
  { templateName, fileName }: { templateName?: string; fileName?: string },
): DocumentDefinition | undefined {
  const own = documentDefinitions(product).filter(one => one.templateName === templateName)
  return own.find(one => one.fileName === fileName) ?? own[0]
}

/**
 * The times and the place by which tables, templates, snippets and files of a document are read: those of its transaction,
 * so that it prints what the transaction was rated with; of what belongs to none, as an invoice, when the document was
 * asked for.
 */
export function basisOfDocument(
  { modificationLocator, createdAt }: Pick<PolicyDocument, 'modificationLocator' | 'createdAt'>,
  of: { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition },
): SelectionBasis {
  const modification = modificationLocator && of.aggregate.modifications.get(modificationLocator)
  return modification ? selectionBasis(of, modification, createdAt) : basisAt(of, createdAt, createdAt)
}
