// The price of a policy as answers show it.
import type { JsonAnswer } from '../../platform/commit.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { getPolicyPriceResponse } from '../../rating/price.ts'
import type { Attempt } from '../../rating/rate.ts'
import { json } from '../mechanism/kind.ts'
import { decidePrice, isPriced } from './decision.ts'

type Written = { readonly due: boolean; readonly answer: JsonAnswer }

/**
 * What was answered last of a policy that an object remembers. What is stored of a price follows from the policy alone, which
 * never changes: another one takes its place, and this one's answer goes with it (memory.ts says when, and how large it may be).
 */
const writtenOf = new WeakMap<Loaded, Written>()

/** The price, `due` in the form of GET: as stored, or of a valid draft as it would be now. */
export async function priceAnswer(loaded: Loaded, due: boolean, attempt: Attempt): Promise<JsonAnswer> {
  const written = writtenOf.get(loaded)
  if (written?.due === due) return written.answer
  const price = await decidePrice(loaded, attempt)
  const answer = json(due ? getPolicyPriceResponse(price) : price)
  const { aggregate } = loaded
  if (isPriced(aggregate, selectedQuote(aggregate))) writtenOf.set(loaded, { due, answer })
  return answer
}
