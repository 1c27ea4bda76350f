// What a product says about endorsements, renewals and cancellations.
import { decimal } from '../../../kernel/money.ts'
import type { ArchiveFile } from '../../archive/read.ts'
import type {
  CancellationType,
  DocumentDefinition,
  EndorsementType,
  HoldbackTerms,
} from '../../configuration.ts'
import { decodeFile } from '../json/decode.ts'
import { present } from '../json/scalars.ts'
import { checkUniqueNames, displayNameOf } from '../names.ts'
import type { Report } from '../report.ts'
import { compileDocuments, type TemplateNames } from './documents.ts'
import { cancellationsFile, endorsementsFile, renewalsFile } from './files.ts'

/** Documents of endorsements and renewals that do not say when they are made (brief 5.1). */
const WHEN_ACCEPTED = 'accept'

export function compileEndorsements(
  file: ArchiveFile | undefined,
  templates: TemplateNames,
  report: Report,
): EndorsementType[] {
  const decoded = file && decodeFile(file, () => endorsementsFile, report)
  if (decoded === undefined) return []
  const { value, place } = decoded
  const list = present(value.endorsements)
  checkUniqueNames(
    list.map(([index, { name }]) => ({ name, path: ['endorsements', index, 'name'] })),
    'endorsement',
    place,
    report,
  )
  return list.map(([index, { name, displayName, reprice, documents }]) => ({
    name,
    displayName: displayName?.trim() || displayNameOf(name),
    reprice,
    documents: compileDocuments(
      documents,
      ['endorsements', index, 'documents'],
      place,
      templates,
      report,
      WHEN_ACCEPTED,
    ),
  }))
}

/** A product without renewals.json has the product's own documents for a renewal (brief 5.1). */
export function compileRenewals(
  file: ArchiveFile | undefined,
  templates: TemplateNames,
  report: Report,
  ofProduct: () => DocumentDefinition[],
): { documents: DocumentDefinition[] } {
  if (!file) return { documents: ofProduct() }
  const decoded = decodeFile(file, () => renewalsFile, report)
  if (decoded === undefined) return { documents: [] }
  const { value, place } = decoded
  return {
    documents: compileDocuments(value.documents, ['documents'], place, templates, report, WHEN_ACCEPTED),
  }
}

/** Undefined when the product has no cancellations.json: it then cancels the legacy way. */
export function compileCancellations(
  file: ArchiveFile | undefined,
  templates: TemplateNames,
  report: Report,
): CancellationType[] | undefined {
  const decoded = file && decodeFile(file, () => cancellationsFile, report)
  if (decoded === undefined) return undefined
  const { value, place } = decoded
  const list = present(value.cancellationTypes)
  checkUniqueNames(
    list.map(([index, { name }]) => ({ name, path: ['cancellationTypes', index, 'name'] })),
    'cancellation type',
    place,
    report,
  )
  const bare = list.filter(([, type]) => type.cancellationCategories.length === 0)
  if (bare.length < list.length)
    for (const [index, { name }] of bare)
      report.error(
        place(['cancellationTypes', index]),
        'unevenCategories',
        `The cancellation type '${name}' has no categories, others have. Give all of them categories, or none.`,
      )
  return list.map(([index, type]) => {
    const { name, title, documents, cancellationCategories, reinstatement } = type
    const path = ['cancellationTypes', index]
    const holdback = type.holdback && holdbackTerms(type.holdback)
    if (type.holdback && !holdback)
      report.error(
        place([...path, 'holdback']),
        'invalidHoldback',
        `The holdback of the cancellation type '${name}' must have either an amount from 0 or a percent from 0 to 100.`,
      )
    return {
      name,
      title: title?.trim() || displayNameOf(name),
      documents: compileDocuments(documents, [...path, 'documents'], place, templates, report),
      cancellationCategories,
      ...(holdback && { holdback }),
      ...(reinstatement !== undefined && {
        reinstatement: {
          defaultDeadlineDays: reinstatement.defaultDeadlineDays,
          documents: compileDocuments(
            reinstatement.documents,
            [...path, 'reinstatement', 'documents'],
            place,
            templates,
            report,
            // Brief 1.6: a reinstatement has its documents when it is accepted.
            'accept',
          ),
        },
      }),
    }
  })
}

/** Exactly one of the two, within its bounds; else undefined. */
function holdbackTerms({
  amount,
  percent,
}: {
  amount?: string | undefined
  percent?: string | undefined
}): HoldbackTerms | undefined {
  if ((amount === undefined) === (percent === undefined)) return undefined
  if (amount !== undefined) return decimal(amount).gte(0) ? { amount } : undefined
  const share = decimal(percent!)
  return share.gte(0) && share.lte(100) ? { percent: percent! } : undefined
}
