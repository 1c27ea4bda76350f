// Maps a rejection to the fields that it concerns.
import { readableTimes } from '../format.ts'
import type { ProblemBody } from '../problem-body.ts'

/**
 * Error messages by place: `policy.channel`, `exposure.1.usage`, `exposure.1.peril.glass.zone` and
 * `policy.named_drivers.0.full_name`.
 */
export type Faults = ReadonlyMap<string, string>

type FieldErrors = NonNullable<ProblemBody['paymentFieldErrors']>

function* prefixedErrors(
  prefix: string,
  errors: FieldErrors | undefined,
): Generator<readonly [string, string]> {
  for (const { fieldName, message = '' } of errors?.errors ?? []) yield [`${prefix}.${fieldName}`, message]
  for (const group of errors?.fieldGroupErrors ?? [])
    for (const { fieldName, message = '' } of group.errors)
      yield [`${prefix}.${group.fieldName}.${group.locator ?? group.index ?? 0}.${fieldName}`, message]
}

/**
 * Collects the errors of a problem by place. Fields of policyholders and properties of requests have their own names as places.
 * An exposure is placed by its locator or, if the request adds it, by its index among those added.
 */
export function faultsOf({ fieldErrors = [], paymentFieldErrors, policyFieldErrors }: ProblemBody): Faults {
  const found = new Map<string, string>(fieldErrors.map(error => [error.ontologyUri, error.message ?? '']))
  for (const [place, message] of [
    ...prefixedErrors('payment', paymentFieldErrors),
    ...prefixedErrors('policy', policyFieldErrors?.policyFieldErrors),
    ...(policyFieldErrors?.exposureValidationErrors ?? []).flatMap(exposure => {
      const place = `exposure.${exposure.exposureLocator ?? exposure.index}`
      return [
        ...prefixedErrors(place, exposure.exposureFieldErrors),
        ...(exposure.perilValidationErrors ?? []).flatMap(({ name, fieldErrors }) => [
          ...prefixedErrors(`${place}.peril.${name}`, fieldErrors),
        ]),
      ]
    }),
  ])
    found.set(place, message)
  return new Map([...found].map(([place, message]) => [place, readableTimes(message)]))
}
