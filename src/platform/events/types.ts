// Every type of event. The event stream has the closed list of contract 2, three types beside it (resources brief 8.2) and
// those that plugins make. Types of newer families (`document.*`, `migration.*`) are in the events interface and in
// webhooks alone: a client of the stream knows the closed list. Claims and premium reports are none of the service's
// operations: subscriptions and filters accept their types, and nothing emits them. What events say, and what emits
// them, is in the catalogue.
import { newerTypes } from './newer-types.ts'

/** Types that the event stream shows, beside those of plugins. */
const STREAM_TYPES = {
  'cancellation.create': 'A draft of a cancellation was made.',
  'cancellation.update': 'A draft of a cancellation was changed.',
  'cancellation.rescind': 'A draft of a cancellation was withdrawn.',
  'cancellation.issue': 'A cancellation was issued.',
  'cancellation.effective': 'The cover of a policy ended by a cancellation or withdrawal: its time has come.',
  'claim.close': 'A claim was closed.',
  'claim.create': 'A claim was made.',
  'claim.discard': 'A claim was discarded.',
  'claim.open': 'A claim was opened.',
  'claim.update': 'A claim was changed.',
  'policy.gracePeriod': 'An unpaid invoice became past due and a grace period began.',
  'policy.gracePeriod.update': 'A grace period was changed: its end, or when the policy would lapse.',
  'invoice.issue': 'An invoice was generated.',
  'invoice.invalidate': 'An invoice was invalidated.',
  'invoice.writtenOff': 'An unpaid invoice was given up.',
  'invoice.pastDue': 'An invoice was not paid by its due time.',
  'payment.pay': 'An invoice was paid, in full or in part.',
  'policy.cancel': 'A policy was cancelled or withdrawn.',
  'policy.create': 'A draft of a policy was made.',
  'policy.discard': 'A policy that was not issued was discarded.',
  'policy.endorse': 'An endorsement was issued (legacy).',
  'policy.finalize': 'A policy was locked, priced and underwritten.',
  'policy.invoice': 'An invoice was generated (legacy, beside invoice.issue).',
  'policy.issue': 'A policy was issued.',
  'policy.lapse': 'A policy lapsed at the end of grace (legacy).',
  'policy.reinstatement.close': 'A legacy reinstatement was closed unpaid.',
  'policy.reinstatement.invoice': 'A legacy reinstatement was invoiced.',
  'policy.reinstatement.issue': 'A legacy reinstatement was paid and issued.',
  'policy.reinstatement.open': 'A legacy reinstatement was opened.',
  'policy.renew': 'A renewal was issued (legacy).',
  'policy.update': 'A draft of a policy was changed, or the fees or the payment schedule of an issued one.',
  'policy.upgrade': 'A policy moved to another configuration version.',
  'subClaim.open': 'A sub-claim was opened.',
  'subClaim.update': 'A sub-claim was changed.',
  'subClaim.close': 'A sub-claim was closed.',
  'subClaim.reopen': 'A sub-claim was reopened.',
  'subClaim.updateReserve': 'A reserve of a sub-claim was changed.',
  'policy.end.reminder': 'The end of a policy is as near as its product says.',
  'subClaim.createPayable': 'A payable of a sub-claim was made.',
  'subClaim.reversePayable': 'A payable of a sub-claim was reversed.',
  'endorsement.create': 'An application for an endorsement was made.',
  'endorsement.update': 'An application for an endorsement was changed.',
  'endorsement.quote': 'An endorsement was priced and locked.',
  'endorsement.accept': 'An endorsement was accepted.',
  'endorsement.issue': 'An endorsement was issued.',
  'endorsement.invalidate': 'A quoted or accepted endorsement was invalidated.',
  'endorsement.discard': 'An application for an endorsement was discarded.',
  'reinstatement.accept': 'A reinstatement was accepted.',
  'reinstatement.create': 'A draft of a reinstatement was made.',
  'reinstatement.issue': 'A reinstatement was issued.',
  'reinstatement.invalidate': 'An accepted reinstatement was invalidated.',
  'reinstatement.deadlineReached': 'A reinstatement expired at its deadline.',
  'renewal.create': 'An application for a renewal was made.',
  'renewal.update': 'An application for a renewal was changed.',
  'renewal.quote': 'A renewal was priced and locked.',
  'renewal.accept': 'A renewal was accepted.',
  'renewal.issue': 'A renewal was issued.',
  'renewal.invalidate': 'A quoted or accepted renewal was invalidated.',
  'renewal.discard': 'An application for a renewal was discarded.',
  'policy.end': 'A policy reached its end uncancelled.',
  'policy.quote.create': 'A quote was made.',
  'policy.quote.discard': 'A quote was discarded.',
  'policy.quote.update': 'A quote was changed, or went from accepted back to quoted.',
  'policy.quote.quoted': 'A quote was priced and locked.',
  'policy.quote.accept': 'A quote was accepted.',
  'policy.quote.declined': 'Underwriting did not accept a quote.',
  'premiumReport.create': 'A premium report was made.',
  'premiumReport.update': 'A premium report was changed.',
  'premiumReport.issue': 'A premium report was issued.',
  'premiumReport.discard': 'A premium report was discarded.',
  'premiumReport.reverse': 'A premium report was reversed.',
  'premiumReport.replace': 'A premium report was replaced.',
  'login.success': 'An account signed in.',
  'login.failure': 'An account failed to sign in.',
  'policyholder.create': 'A policyholder was made.',
  'policyholder.update': 'A policyholder was changed, or data of it overwritten.',
  'payment.reverse': 'A payment was reversed.',
} as const satisfies Record<string, string>

/** Types of newer families, which the event stream does not show. */
const NEWER_FAMILIES = {
  'document.ready': 'The file of a document was made.',
  'document.failed': 'A document could not be made.',
  'migration.start': 'A migration began.',
  'migration.pause': 'A migration was paused.',
  'migration.resume': 'A paused migration went on.',
  'migration.recover': 'Accounts that a fault of the system had stopped were taken up again.',
  'migration.patch': 'Items of a failed account were corrected, and the account is tried again.',
  'migration.error': 'A migration ended with accounts that a fault of the system stopped.',
  'migration.fail': 'A migration ended with accounts that failed.',
  'migration.finish': 'A migration ended with every account completed.',
} as const satisfies Record<string, string>

export const EVENT_TYPES = { ...STREAM_TYPES, ...NEWER_FAMILIES } as const

export type EventType = keyof typeof EVENT_TYPES

export const eventTypes = Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]

export const streamTypes = Object.keys(STREAM_TYPES) as [
  keyof typeof STREAM_TYPES,
  ...(keyof typeof STREAM_TYPES)[],
]

/** Types that the event stream leaves out. */
export const unstreamedTypes = Object.keys(NEWER_FAMILIES)

export const isStreamed = (type: string): boolean => !Object.hasOwn(NEWER_FAMILIES, type)

export const isEventType = (type: string): type is EventType => Object.hasOwn(EVENT_TYPES, type)

/** A type of a plugin's own making. */
export type CustomEventType = `custom.${string}`

export const CUSTOM_EVENT_TYPE = /^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/

export const isCustomEventType = (type: string): type is CustomEventType => CUSTOM_EVENT_TYPE.test(type)

/** Whether events of `type` go to a subscription of `pattern`: the type itself, or `policy.*` for all below. */
export const matchesEventType = (pattern: string, type: string): boolean =>
  pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

const CUSTOM_EVENT_PATTERN = /^custom(\.[A-Za-z0-9_-]{1,60}){0,3}\.(\*|[A-Za-z0-9_-]{1,60})$/

/** Whether `pattern` names types, by their older names or by their newer ones. */
export const isEventTypePattern = (pattern: string): boolean =>
  [...eventTypes, ...newerTypes()].some(type => matchesEventType(pattern, type)) ||
  CUSTOM_EVENT_PATTERN.test(pattern)

/** Whether there is a type of that name, older or newer, or it may be a type of a plugin's own making. */
export const isAnyEventType = (type: string): boolean =>
  isEventType(type) || isCustomEventType(type) || newerTypes().includes(type)
