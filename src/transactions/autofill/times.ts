// Times and names that fillers find in `updates` of every request, even if the request omits them, under the interface's names.
import type { Instant, Span, TimeZone } from '../../kernel/time.ts'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { type PolicyAggregate, selectedQuote } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { requestedSpan } from '../../policy/surroundings.ts'
import type { FilledKind, Words } from './words.ts'

/** By their names in `updates`. Times are milliseconds as text. */
export type Known = Readonly<Record<string, string>>

/** Alternative names of request properties, for fillers that treat all kinds of requests alike. */
const OTHER_WORDS: Partial<Record<FilledKind, Readonly<Record<string, string>>>> = {
  endorsement: { endorsementEffectiveTimestamp: 'startTimestamp' },
  renewal: { policyEndTimestamp: 'renewalEndTimestamp' },
}

/** Returns the span of the policy. A request without times gets one year from midnight today, like the policy itself. */
export const knownOfNewPolicy = (
  { policyStartTimestamp: start, policyEndTimestamp: end }: PolicyCreateRequest,
  timeZone: TimeZone,
  now: Instant,
): Known => ofSpan(requestedSpan(start, end, timeZone, now))

/** Returns the known times and names. `record` is the one that the request updates. The request's own values take precedence. */
export function knownOfRequest(
  kind: FilledKind,
  request: object,
  { aggregate, record, now }: { aggregate: PolicyAggregate; record: Endorsement | undefined; now: Instant },
): Known {
  const { originalStart, effectiveEnd } = aggregate.policy
  if (kind === 'policy') {
    const { contractStart, contractEnd } = selectedQuote(aggregate)
    return ofSpan({ start: contractStart, end: contractEnd })
  }
  if (kind === 'renewal')
    return {
      policyStartTimestamp: String(record?.startAt ?? effectiveEnd),
      ...(record?.endAt !== undefined && { policyEndTimestamp: String(record.endAt) }),
    }
  const name = record?.name ?? ('endorsementName' in request ? request.endorsementName : undefined)
  return {
    ...ofSpan({ start: originalStart, end: effectiveEnd }),
    ...(typeof name === 'string' && { endorsementName: name }),
    endorsementEffectiveTimestamp: String(record?.startAt ?? now),
  }
}

const ofSpan = ({ start, end }: Span): Known => ({
  policyStartTimestamp: String(start),
  policyEndTimestamp: String(end),
})

/** Returns the `updates` that a filler gets. `words` are the properties of the request, as fillers read them. */
export function updatesFor(kind: FilledKind, known: Known, words: Words): Words {
  const others = Object.entries(OTHER_WORDS[kind] ?? {}).filter(([, own]) => words[own] !== undefined)
  return { ...known, ...words, ...Object.fromEntries(others.map(([other, own]) => [other, words[own]])) }
}

/** Returns the answer under the names of the request, without times that it only returns unchanged. */
export function toRequestNames(kind: FilledKind, answer: Words, shown: Words): Words {
  const changed = Object.entries(answer).filter(
    ([name, value]) => !name.endsWith('Timestamp') || String(value) !== shown[name],
  )
  const own = OTHER_WORDS[kind] ?? {}
  const translated = changed.map(([name, value]): [string, unknown] => [own[name] ?? name, value])
  // The request's own names take precedence.
  return { ...Object.fromEntries(translated), ...Object.fromEntries(changed) }
}
