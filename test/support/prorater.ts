// Code that replaces a tenant's `getProrationResult` in stories without a sandbox.
import Big from 'big.js'
import type { AttemptCalls } from '../../src/extension/plugins/attempt-calls.ts'
import type { ProrationInput, ProrationItem } from '../../src/extension/plugins/contract.ts'
import { type Instant, months, type TimeZone } from '../../src/kernel/time.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import type { Story } from './policy-story.ts'

type Answer = { items: { id: string; proratedAmount: string | number; holdbackAmount?: string | number }[] }
type Prorater = (input: ProrationInput, product: ProductDefinition) => Answer

/** `proportional` returns what the service computes itself, `half` always one half, `whimsical` any permitted share. */
export type ProraterName = 'proportional' | 'half' | 'whimsical'

const PRORATERS: Record<ProraterName, Prorater> = {
  proportional: (input, product) => ({
    items: input.items.map(item => ({
      id: item.id,
      proratedAmount: proportional(item, input, product).toFixed(),
    })),
  }),
  half: input => ({
    items: input.items.map(({ id, amount }) => ({ id, proratedAmount: new Big(amount).div(2).toFixed() })),
  }),
  whimsical: input => ({
    items: input.items.map((item, at) => {
      const amount = new Big(item.amount)
      const isBegun = item.segmentStartTimestamp !== input.segmentSplitTimestamp
      const share = isBegun ? amount.times(thousandths(item, at)).div(1000).round(2) : new Big(0)
      const back = amount.minus(share).plus(item.followingAmount)
      const isHeld = input.cancellationType !== undefined && item.type !== 'technicalPremium'
      const held =
        isHeld && back.gt(0)
          ? back
              .times(thousandths(item, at + 1))
              .div(1000)
              .round(2, 0)
          : 0
      return { id: item.id, proratedAmount: share.toFixed(), holdbackAmount: String(held) }
    }),
  }),
}

/** Deterministic for each item. Occasionally 0 and 1,000. */
const thousandths = ({ amount, type, segmentStartTimestamp }: ProrationItem, at: number): number => {
  const sum = [...`${amount}${type}${segmentStartTimestamp}${at}`].reduce(
    (hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 1_101,
    7,
  )
  return Math.min(sum, 1_000)
}

/** The share that the service computes itself (brief 1.6, 1.7, 3.2). For a reinstatement, by the months from its time on. */
function proportional(item: ProrationItem, input: ProrationInput, product: ProductDefinition): Big {
  const [start, at, end] = [
    item.segmentStartTimestamp,
    input.segmentSplitTimestamp,
    item.segmentEndTimestamp,
  ].map(Number) as [Instant, Instant, Instant]
  const isLegacy = input.operation === 'cancellation' && input.cancellationType === undefined
  const isLinear = isLegacy && product.legacyCancellationProration === 'linear'
  const length = (from: Instant, to: Instant): Big =>
    isLinear ? new Big(to - from) : months(from, to, input.tenantTimeZone as TimeZone)
  const amount = new Big(item.amount)
  const part = (from: Instant, to: Instant): Big => {
    const whole = length(start, end)
    return whole.eq(0) ? new Big(0) : amount.times(length(from, to)).div(whole).round(2, Big.roundHalfUp)
  }
  return input.operation === 'reinstatement' ? amount.minus(part(at, end)) : part(start, at)
}

/** All inputs and answers, in the order of the calls. */
export const prorations: { input: ProrationInput; answer: Answer }[] = []

/** Calls the prorater whose name the product has as the path of the function. */
export const PRORATING = {
  call: async (
    { product }: { product: ProductDefinition },
    name: 'getProrationResult',
    [input]: [ProrationInput],
  ) => {
    const answer = PRORATERS[product.plugins[name]!.path as ProraterName](input, product)
    prorations.push({ input, answer })
    return answer
  },
} as unknown as AttemptCalls

/** The plugins of a product with the prorater. */
export const prorating = (name: ProraterName): ProductDefinition['plugins'] => ({
  getProrationResult: { path: name, enabled: true },
})

/** The story with a product that has the prorater. */
export const withProrater = ({ loaded, ...story }: Story, name: ProraterName): Story => ({
  ...story,
  loaded: { ...loaded, product: { ...loaded.product, plugins: prorating(name) } },
})
