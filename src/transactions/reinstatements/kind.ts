// Reinstatements as a kind of operations.
import { notFound } from '../../kernel/errors.ts'
import { type CancellationLocator, readDigits, type Uuid } from '../../kernel/locators.ts'
import { cancellationOf, reinstatementOf } from '../../policy/records/transactions.ts'
import { CANCELLATIONS } from '../cancellations/projection.ts'
import { defineKind, pluginRecord, showRecord } from '../mechanism/kind.ts'
import { priceChangeOf } from '../mechanism/price-change.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import type { ReinstatementPreviewRequest } from './contract.ts'
import {
  decideReinstatement,
  orderOf,
  planReinstatementInvalidation,
  previewReinstatement,
  type ReinstatementOperation,
} from './decision.ts'
import { applyReinstatement, assertEndsCover } from './effect.ts'
import { REINSTATEMENTS } from './projection.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    reinstatement: { operation: ReinstatementOperation }
  }
  interface PlannedChanges {
    reinstatement: { reinstatement: Uuid }
  }
  interface Previews {
    reinstatement: ReinstatementPreviewRequest
  }
}

export const reinstatementKind = defineKind<'reinstatement'>({
  name: 'reinstatement',
  record: ({ operation }) =>
    operation.action === 'create'
      ? showRecord(CANCELLATIONS, operation.cancellation)
      : showRecord(REINSTATEMENTS, operation.reinstatement),
  async decide(loaded, { operation }, { attempt }) {
    const { planned, reinstatement } = await decideReinstatement(loaded, operation, attempt)
    return planned && { planned, response: showRecord(REINSTATEMENTS, reinstatement), subject: reinstatement }
  },
  pending: ({ reinstatements }) =>
    [...reinstatements.values()]
      .filter(one => one.state === 'accepted')
      .map(({ locator, createdAt }) => ({
        kind: 'reinstatement',
        locator,
        state: 'accepted',
        createdAt,
        takeBack: (from, now) => planReinstatementInvalidation(from, from.reinstatements.get(locator)!, now),
      })),
  changes: {
    reinstatement: {
      async decide(loaded, { reinstatement: locator }, attempt) {
        const { aggregate } = loaded
        const reinstatement = reinstatementOf(aggregate, locator)
        const carryOut = () => {
          assertEndsCover(aggregate, cancellationOf(aggregate, reinstatement.cancellationLocator))
          return planWithProration(loaded, attempt, { digits: 1 }, context =>
            applyReinstatement(aggregate, orderOf(aggregate, reinstatement), context),
          )
        }
        return await priceChangeOf(loaded, reinstatement, carryOut, attempt)
      },
    },
  },
  previews: {
    reinstatement: {
      async carryOut(loaded, { cancellationLocator: text, ...request }, attempt) {
        const cancellation = readDigits(text)
        if (cancellation === undefined) throw notFound('cancellation', text)
        const of = cancellation as CancellationLocator
        const { planned, reinstatement } = await previewReinstatement(loaded, of, request, attempt)
        const { modificationLocator } = reinstatementOf(planned.aggregate, reinstatement)
        return { planned, modificationLocator: modificationLocator! }
      },
      issuedBy(asked) {
        if (asked.kind !== 'reinstatement' || asked.operation.action !== 'create') return undefined
        const { cancellation, request } = asked.operation
        if (!request.issue) return undefined
        return { request: { cancellationLocator: String(cancellation), ...request }, at: () => asked }
      },
    },
  },
  pluginRecords: { Reinstatement: pluginRecord(REINSTATEMENTS) },
})
