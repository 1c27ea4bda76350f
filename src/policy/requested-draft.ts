import type { LocatorSupply } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { PolicyCreateRequest } from './contract/requests.ts'
import { newDraft } from './draft/draft.ts'
import type { DraftResult } from './draft/request.ts'
import type { Ground } from './surroundings.ts'
import { contractSpan, paymentSchedule } from './terms.ts'

/** The draft that a request asks for, as it is made at that time; what was wrong with the asking is beside it. */
export const requestedDraft = (
  request: PolicyCreateRequest,
  { product, timeZone, currency, policyholder, configVersion }: Ground,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): DraftResult =>
  newDraft(
    {
      policyholderLocator: policyholder.locator,
      configVersion,
      currency,
      contract: contractSpan(request.policyStartTimestamp, request.policyEndTimestamp, timeZone, now),
      paymentScheduleName: paymentSchedule(product, request.paymentScheduleName),
      premiumReportName: request.premiumReportName,
      fieldValues: request.fieldValues,
      fieldGroups: request.fieldGroups,
      exposures: request.exposures,
    },
    { product, timeZone, now, supply },
  )
