// Why a policy has no price, in words that many policies share. No reason names a policy or repeats a value.
import { Refusal } from '../../kernel/errors.ts'
import type { PolicyValidationErrors } from '../../policy/draft/validation.ts'
import type { FieldErrors } from '../../product/fields/values.ts'

/** Returns the reasons of a refusal, each once. */
function reasonsOf(refusal: Refusal): string[] {
  const errors = refusal.details.policyFieldErrors as PolicyValidationErrors | undefined
  const found = errors && [
    ...fieldReasons(errors.policyFieldErrors, ''),
    ...errors.exposureValidationErrors.flatMap(exposure => [
      ...(exposure.message === undefined ? [] : [exposure.message]),
      ...fieldReasons(exposure.exposureFieldErrors, `exposure '${exposure.exposureName}': `),
      ...exposure.perilValidationErrors.flatMap(({ name, message, fieldErrors }) => [
        ...(message === undefined
          ? fieldReasons(fieldErrors, `peril '${name}' of '${exposure.exposureName}': `)
          : [message]),
      ]),
    ]),
  ]
  const reasons = [...new Set(found)]
  return reasons.length > 0 ? reasons : [refusal.message]
}

const fieldReasons = (errors: FieldErrors | undefined, place: string): string[] =>
  errors
    ? [
        ...errors.errors.map(({ message }) => place + message),
        ...errors.fieldGroupErrors.flatMap(group =>
          group.errors.map(({ message }) => `${place}group '${group.fieldName}': ${message}`),
        ),
      ]
    : []

/** A part of the service does not answer or is overloaded. The policy is not the cause, and the next attempt may succeed. */
const UNAVAILABLE = 503

/** Runs the work. A refusal becomes its reasons; any other failure is thrown. */
export async function resultOrReasons<T>(work: () => Promise<T>): Promise<T | readonly string[]> {
  try {
    return await work()
  } catch (problem) {
    if (problem instanceof Refusal && problem.status !== UNAVAILABLE) return reasonsOf(problem)
    throw problem
  }
}
