// Grace periods, legacy lapses and the way back from them, as kinds of operations.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { gracePeriodOf, lapseReinstatementOf } from '../../policy/records/look-ups.ts'
import { reinstatementStatus } from '../../policy/records/transactions.ts'
import { json, showNothing } from '../mechanism/answers.ts'
import { defineKind, type Response } from '../mechanism/kind.ts'
import { planClosing } from './closing.ts'
import { decideAmountDue, decideLapse, type LapseOperation } from './decision.ts'
import { gracePeriodResponse, lapseReinstatementResponse } from './projection.ts'

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
