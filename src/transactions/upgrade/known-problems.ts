import type {
  ExposureValidationErrors,
  PerilValidationErrors,
  PolicyValidationErrors,
} from '../../policy/draft/validation.ts'
import { type FieldErrors, fieldErrors } from '../../product/fields/values.ts'

/** The problems that are not among the known ones, each once however many segments have it. */
export function withoutKnown(
  found: PolicyValidationErrors,
  known: PolicyValidationErrors,
): PolicyValidationErrors {
  const seen = new Set<string>()
  const isNew = (...problem: string[]): boolean => {
    const key = JSON.stringify(problem)
    return !seen.has(key) && seen.add(key) !== undefined
  }
  sifted(known, isNew)
  return sifted(found, isNew)
}

/** Whether to keep a problem, told by its place and what it is. */
type Sieve = (...problem: string[]) => boolean

function sifted(errors: PolicyValidationErrors, keeps: Sieve): PolicyValidationErrors {
  const policyFieldErrors = siftedFields(errors.policyFieldErrors, 'policy', keeps)
  const exposureValidationErrors = errors.exposureValidationErrors.flatMap(one => siftedExposure(one, keeps))
  return {
    hasErrors: policyFieldErrors !== undefined || exposureValidationErrors.length > 0,
    ...(policyFieldErrors && { policyFieldErrors }),
    exposureValidationErrors,
    cancellationValidationErrors: [],
  }
}

function siftedExposure(errors: ExposureValidationErrors, keeps: Sieve): ExposureValidationErrors[] {
  const { exposureLocator = '', message, exposureFieldErrors, perilValidationErrors, ...rest } = errors
  const left: ExposureValidationErrors = {
    ...rest,
    exposureLocator,
    ...(message !== undefined && keeps(exposureLocator, message) && { message }),
    exposureFieldErrors: siftedFields(exposureFieldErrors, exposureLocator, keeps),
    perilValidationErrors: perilValidationErrors.flatMap(one => siftedPeril(one, exposureLocator, keeps)),
  }
  const isClean = !left.message && !left.exposureFieldErrors && left.perilValidationErrors.length === 0
  return isClean ? [] : [left]
}

function siftedPeril(errors: PerilValidationErrors, exposure: string, keeps: Sieve): PerilValidationErrors[] {
  const { name, message } = errors
  const fields = siftedFields(errors.fieldErrors, `${exposure}/${name}`, keeps)
  const kept = message !== undefined && keeps(exposure, name, message)
  if (!fields && !kept) return []
  return [{ name, hasErrors: true, ...(kept && { message }), ...(fields && { fieldErrors: fields }) }]
}

function siftedFields(errors: FieldErrors | undefined, place: string, keeps: Sieve): FieldErrors | undefined {
  if (!errors) return undefined
  const left = fieldErrors(
    errors.errors.filter(one => keeps(place, one.fieldName, one.code)),
    errors.fieldGroupErrors.flatMap(group => {
      const inside = group.errors.filter(one => keeps(place, group.locator, one.fieldName, one.code))
      return inside.length === 0 ? [] : [{ ...group, errors: inside }]
    }),
  )
  return left.hasErrors ? left : undefined
}
