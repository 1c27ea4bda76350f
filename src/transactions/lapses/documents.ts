// Documents that users upload to the reinstatement of a legacy lapse, by the rules of those of policies: added unless it
// is given up, removed only before it is issued (contract 1; brief 0.6). Pure.

import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { UnplacedDocument } from '../../policy/records/document.ts'
import { type LapseReinstatement, reinstatementStatus } from '../../policy/records/transactions.ts'
import { planRemoval, planUpload, type UploadOwner } from '../documents/upload.ts'

const asOwner = (reinstatement: LapseReinstatement): UploadOwner => ({
  subject: 'lapseReinstatement',
  subjectLocator: reinstatement.locator,
  title: `Reinstatement ${reinstatement.locator}`,
  isIssued: reinstatementStatus(reinstatement) === 'issued',
})

/** Refuses (409) a closed reinstatement. */
export function planReinstatementUpload(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  upload: UnplacedDocument,
  now: Instant,
): Planned {
  const { subject, subjectLocator, title } = asOwner(reinstatement)
  if (reinstatementStatus(reinstatement) === 'closed')
    throw new Refusal('wrongState', `${title} is closed; documents are no longer added to it.`)
  return planUpload(before, { ...upload, subject, subjectLocator }, now)
}

/** Refuses (409) what the service made, and everything once the reinstatement is issued. */
export const planReinstatementRemoval = (
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  document: Uuid,
): Planned => planRemoval(before, asOwner(reinstatement), document)
