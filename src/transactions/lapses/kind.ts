// Grace periods, legacy lapses and the way back from them, as kinds of operations.
import { wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  gracePeriodOf,
  type LapseReinstatement,
  lapseReinstatementOf,
  reinstatementStatus,
  type UnplacedDocument,
} from '../../policy/records/transactions.ts'
import type { Planned } from '../../policy/transitions.ts'
import { planRemoval, planUpload, type UploadOwner } from '../documents/upload.ts'
import { defineKind, json, type Response, showNothing } from '../mechanism/kind.ts'
import { decideAmountDue, decideLapse, type LapseOperation } from './decision.ts'
import { gracePeriodResponse, lapseReinstatementResponse } from './projection.ts'
import { planClosing } from './reinstatements.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** Grace periods, legacy lapses and their reinstatements. */
    lapse: { operation: LapseOperation }
    /** What a lapsed policy's reinstatement would ask for; nothing is stored. */
    amountDue: { reinstatement: Uuid; effectiveAt: Instant }
  }
}

const showGracePeriod =
  (locator: Uuid): Response =>
  ({ aggregate, product }) =>
    gracePeriodResponse(aggregate, gracePeriodOf(aggregate, locator), product)

const showReinstatement =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, locator))

export const lapseKind = defineKind<'lapse'>({
  name: 'lapse',
  record({ operation }) {
    if ('gracePeriod' in operation) return showGracePeriod(operation.gracePeriod)
    return 'reinstatement' in operation ? showReinstatement(operation.reinstatement) : undefined
  },
  async decide(loaded, { operation }, { attempt }) {
    const { planned, shown } = await decideLapse(loaded, operation, attempt)
    if (!planned) return undefined
    if (!shown) return { planned, response: showNothing }
    return 'gracePeriod' in shown
      ? {
          planned,
          response: showGracePeriod(shown.gracePeriod),
          subject: `gracePeriod/${shown.gracePeriod}`,
        }
      : {
          planned,
          response: showReinstatement(shown.reinstatement),
          subject: `reinstatement/${shown.reinstatement}`,
        }
  },
  pending: ({ lapseReinstatements }) =>
    [...lapseReinstatements.values()]
      .filter(one => reinstatementStatus(one) === 'invoiced')
      .map(({ locator, createdAt }) => ({
        kind: 'reinstatement',
        locator,
        state: 'accepted',
        createdAt,
        takeBack: (from, now) => planClosing(from, from.lapseReinstatements.get(locator)!, now),
      })),
})

export const amountDueKind = defineKind<'amountDue'>({
  name: 'amountDue',
  isReadOnly: () => true,
  async decide(loaded, { reinstatement, effectiveAt }, { attempt }) {
    return { answer: json(await decideAmountDue(loaded, reinstatement, effectiveAt, attempt)) }
  },
})

// Documents uploaded to the reinstatement of a legacy lapse follow the rules of a policy's: they can be added unless it is given
// up, and removed only before it is issued (contract 1; brief 0.6).
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
    throw wrongState(`${title} is closed; documents are no longer added to it.`)
  return planUpload(before, { ...upload, subject, subjectLocator }, now)
}

/** Refuses (409) what the service made, and everything once the reinstatement is issued. */
export const planReinstatementRemoval = (
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  document: Uuid,
): Planned => planRemoval(before, asOwner(reinstatement), document)
