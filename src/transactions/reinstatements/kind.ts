// Reinstatements of cancelled policies as a kind of operation.
import { notFound } from '../../kernel/errors.ts'
import { type CancellationLocator, readDigits, type Uuid } from '../../kernel/locators.ts'
import { reinstatementOf } from '../../policy/records/transactions.ts'
import { CANCELLATIONS } from '../cancellations/projection.ts'
import { defineKind, pluginRecord, showRecord } from '../mechanism/kind.ts'
import { priceChangeOf } from '../mechanism/price-change.ts'
import { prorated } from '../mechanism/prorating.ts'
import type { ReinstatementPreviewRequest } from './contract.ts'
import {
  decideReinstatement,
  orderOf,
  planReinstatementInvalidation,
  previewReinstatement,
  type ReinstatementOperation,
} from './decision.ts'
import { reinstated } from './effect.ts'
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
        return await priceChangeOf(loaded, reinstatement, () =>
          prorated(loaded, attempt, { digits: 1 }, context =>
            reinstated(aggregate, orderOf(aggregate, reinstatement), context),
          ),
        )
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
    },
  },
  pluginRecords: { Reinstatement: pluginRecord(REINSTATEMENTS) },
})
