// Filters that record something, and the scripts in which they have an effect.
import type { AppliedFilter } from '../../../../packages/liquid/outline.ts'
import { DOCUMENT_READERS, type TemplateReader } from '../../templates/data-tree.ts'
import { SETTERS } from '../product/templates.ts'
import type { AnalysedSource } from './source.ts'

type Owner = {
  readonly readers: readonly TemplateReader[]
  readonly where: string
  readonly filters: readonly string[]
}

/** Must agree with how the rater reads effects (rating/rater.ts, rating/rate.ts). */
const OWNERS: readonly Owner[] = [
  {
    readers: ['premium'],
    where: 'the premium script of a peril',
    filters: [
      ...SETTERS.premium,
      'set_year_technical_premium',
      'set_month_technical_premium',
      'set_peril_technical_premium',
      'add_year_commission',
      'add_month_commission',
      'add_commission',
    ],
  },
  { readers: ['tax'], where: 'the script of a tax', filters: SETTERS.tax },
  { readers: ['fees'], where: 'policy.calculations.liquid', filters: ['add_fee'] },
  {
    readers: ['underwriting'],
    where: 'underwriting.guidelines.liquid',
    filters: [...SETTERS.decision, 'add_underwriting_note'],
  },
  {
    readers: DOCUMENT_READERS,
    where: 'the template of a document',
    filters: ['render_static_document'],
  },
]

const OWNER_OF: ReadonlyMap<string, Owner> = new Map(
  OWNERS.flatMap(owner => owner.filters.map(filter => [filter, owner] as const)),
)

/** Reports a filter that records something where nothing reads it. */
export function checkEffect({ name, begin }: AppliedFilter, source: AnalysedSource): void {
  const owner = OWNER_OF.get(name)
  if (owner === undefined || owner.readers.some(one => source.readers.includes(one))) return
  const message = `'${name}' has no effect here: it is used only in ${owner.where}. Move it there, or remove it.`
  source.alarm('effectIgnored', begin, message)
}
