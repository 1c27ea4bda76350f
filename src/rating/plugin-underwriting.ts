// The decision of the product's plugin (brief 5.6).

import { readAnswer } from '../extension/plugins/answers.ts'
import type { UnderwritingInput } from '../extension/plugins/contract.ts'
import { asPluginInput } from '../extension/plugins/input.ts'
import { NeedsWholePolicy } from '../policy/part.ts'
import type { PolicyAggregate, Quote } from '../policy/records/aggregate.ts'
import type { UnderwritingResult } from '../policy/records/transactions.ts'
import { policyholderResponse } from '../policyholders/projection.ts'
import { hasPlugin } from '../product/plugins.ts'
import type { RatingContext } from './rater.ts'

/** The decision on a priced quote; undefined where the product has no such plugin. */
export async function pluginDecision(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<UnderwritingResult | undefined> {
  const { product, operation, policyholder, callPlugin, now } = context
  if (!hasPlugin(product, 'getUnderwritingResult')) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const input: UnderwritingInput = {
    operation,
    policy: asPluginInput(context.project(aggregate, quote)) as UnderwritingInput['policy'],
    policyholder: asPluginInput(policyholderResponse(policyholder)) as UnderwritingInput['policyholder'],
  }
  const contract = await import('../extension/plugins/contract.ts')
  const answer = await callPlugin('getUnderwritingResult', input)
  const { path } = product.plugins.getUnderwritingResult!
  return { ...readAnswer('getUnderwritingResult', contract.UnderwritingResult, answer, path), at: now }
}
