// Every refusal has one shape: the ExceptionResponse of brief 8, with a stable `code` (kernel/errors.ts).
import { z } from '@hono/zod-openapi'
import { ERROR_KINDS, type ErrorCode } from '../../kernel/errors.ts'
import { Flag, Integer, OptionalText, Text } from '../wire.ts'

export const FieldErrorCode = z.enum(['MISSING', 'INVALID_FIELD', 'INVALID_TYPE', 'INVALID_VALUE'])

/** One field that is missing, unknown, or has a wrong value (brief 6.1). */
export const FieldError = z
  .object({ fieldName: Text, code: FieldErrorCode, message: OptionalText })
  .openapi('FieldError')

/** The wrong fields of one group of a group field: the group's locator, or its index among those sent. */
export const FieldGroupErrors = z
  .object({
    fieldName: Text,
    errors: z.array(FieldError),
    locator: OptionalText,
    index: Integer.optional(),
  })
  .openapi('FieldGroupErrors')

export const FieldErrors = z
  .object({
    hasErrors: Flag,
    errors: z.array(FieldError),
    fieldGroupErrors: z.array(FieldGroupErrors),
    errorMessage: OptionalText,
  })
  .openapi('FieldErrors')

export const PerilValidationErrors = z
  .object({ name: Text, hasErrors: Flag, fieldErrors: FieldErrors.optional(), message: OptionalText })
  .openapi('PerilValidationErrors')

/** `index` counts from 0 among the exposures that the request adds; `exposureLocator` names one it changes. */
export const ExposureValidationErrors = z
  .object({
    exposureName: Text,
    hasErrors: Flag,
    perilValidationErrors: z.array(PerilValidationErrors),
    exposureFieldErrors: FieldErrors.optional(),
    exposureLocator: OptionalText,
    index: Integer.optional(),
    message: OptionalText,
  })
  .openapi('ExposureValidationErrors')

export const CancellationValidationError = z
  .object({ name: Text, code: Text, message: OptionalText })
  .openapi('CancellationValidationError')

export const PolicyValidationErrors = z
  .object({
    hasErrors: Flag,
    exposureValidationErrors: z.array(ExposureValidationErrors),
    cancellationValidationErrors: z.array(CancellationValidationError),
    policyFieldErrors: FieldErrors.optional(),
  })
  .openapi('PolicyValidationErrors')

/**
 * A problem with one place of a request. For a policyholder's value `ontologyUri` is the field's name and
 * `validatorUri` a FieldErrorCode; for a property that does not fit its contract they are the property's
 * path, e.g. `exposures[0].exposureName`, and the rule that it breaks.
 */
export const ValidationFieldError = z
  .object({
    code: Integer.openapi({ description: 'The apiErrorCode of the whole answer.' }),
    ontologyUri: Text,
    validatorUri: Text,
    message: OptionalText,
    debug: OptionalText,
  })
  .openapi('ValidationFieldError')

/** A problem of an uploaded table (resources brief 1.2). */
export const TableError = z
  .object({
    line: Integer.openapi({ description: 'Counted from 1.' }),
    message: Text,
    column: OptionalText,
    text: OptionalText.openapi({ description: 'Of the cell.' }),
  })
  .openapi('TableError')

const codes = Object.keys(ERROR_KINDS) as [ErrorCode, ...ErrorCode[]]

export const ExceptionResponse = z
  .object({
    httpStatus: z
      .union([z.int(), Text])
      .openapi({ description: 'Text on /account/* and /configuration/*, an integer elsewhere.' }),
    httpErrorCode: Integer.openapi({ description: 'The HTTP status, always as an integer.' }),
    apiErrorCode: Integer.openapi({
      description:
        'Stable number: 1000 and up general, 2000 sign-in, 3000 policy, 4000 billing, 5000 configuration.',
    }),
    code: z.enum(codes).openapi({ description: 'Stable name, one for each apiErrorCode.' }),
    message: OptionalText,
    requestMethod: OptionalText,
    requestUri: OptionalText,
    referenceId: OptionalText.openapi({ description: 'Also the X-Request-Id header, and in the log.' }),
    version: OptionalText.openapi({ description: 'Version of the service.' }),
    fieldErrors: z.array(ValidationFieldError).optional(),
    policyFieldErrors: PolicyValidationErrors.optional(),
    paymentFieldErrors: FieldErrors.optional(),
    tableErrors: z.array(TableError).optional(),
    searchableFields: z.array(Text).optional().openapi({
      description: 'When a field was searched that cannot be: those that can.',
    }),
    currentETag: OptionalText.openapi({ description: 'With 412: the ETag that the record has now.' }),
    timestamp: OptionalText.openapi({
      description: 'With `streamRestored`: the time in epoch milliseconds to read the event stream from.',
    }),
  })
  .openapi('ExceptionResponse', { description: 'A request that was not carried out, and why.' })
export type ExceptionResponse = z.infer<typeof ExceptionResponse>
