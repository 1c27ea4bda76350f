// Every error has the shape ExceptionResponse of brief 8, with a stable `code` (kernel/errors.ts).
import { z } from '@hono/zod-openapi'
import { ERROR_KINDS, type ErrorCode } from '../../kernel/errors.ts'
import { component, Flag, Integer, OptionalText, Text } from '../wire.ts'

export const FieldErrorCode = z.enum(['MISSING', 'INVALID_FIELD', 'INVALID_TYPE', 'INVALID_VALUE'])

/** A missing, unknown or wrong field (brief 6.1). */
export const FieldError = component('FieldError', {
  fieldName: Text,
  code: FieldErrorCode,
  message: OptionalText,
})

/** Wrong fields of one group of `fieldName`. The group is named by its locator, or by its index in the request. */
export const FieldGroupErrors = component('FieldGroupErrors', {
  fieldName: Text,
  errors: z.array(FieldError),
  locator: OptionalText,
  index: Integer.optional(),
})

export const FieldErrors = component('FieldErrors', {
  hasErrors: Flag,
  errors: z.array(FieldError),
  fieldGroupErrors: z.array(FieldGroupErrors),
  errorMessage: OptionalText,
})

export const PerilValidationErrors = component('PerilValidationErrors', {
  name: Text,
  hasErrors: Flag,
  fieldErrors: FieldErrors.optional(),
  message: OptionalText,
})

/** `index` counts from 0 among the added exposures; `exposureLocator` names a changed one. */
export const ExposureValidationErrors = component('ExposureValidationErrors', {
  exposureName: Text,
  hasErrors: Flag,
  perilValidationErrors: z.array(PerilValidationErrors),
  exposureFieldErrors: FieldErrors.optional(),
  exposureLocator: OptionalText,
  index: Integer.optional(),
  message: OptionalText,
})

export const CancellationValidationError = component('CancellationValidationError', {
  name: Text,
  code: Text,
  message: OptionalText,
})

export const PolicyValidationErrors = component('PolicyValidationErrors', {
  hasErrors: Flag,
  exposureValidationErrors: z.array(ExposureValidationErrors),
  cancellationValidationErrors: z.array(CancellationValidationError),
  policyFieldErrors: FieldErrors.optional(),
})

/**
 * For a policyholder's value, `ontologyUri` is the name of the field and `validatorUri` a FieldErrorCode. For a property that
 * breaks its contract, they are its path, e.g. `exposures[0].exposureName`, and the broken rule.
 */
export const ValidationFieldError = component('ValidationFieldError', {
  code: Integer.describe('The apiErrorCode of the whole response.'),
  ontologyUri: Text,
  validatorUri: Text,
  message: OptionalText,
  debug: OptionalText,
})

/** An error in an uploaded table (resources brief 1.2). */
export const TableError = component('TableError', {
  line: Integer.describe('Counted from 1.'),
  message: Text,
  column: OptionalText,
  text: OptionalText.describe('Value of the cell.'),
})

const codes = Object.keys(ERROR_KINDS) as [ErrorCode, ...ErrorCode[]]

export const ExceptionResponse = component(
  'ExceptionResponse',
  {
    httpStatus: z
      .union([z.int(), Text])
      .describe('Text on /account/* and /configuration/*, an integer elsewhere.'),
    httpErrorCode: Integer.describe('The HTTP status, always as an integer.'),
    apiErrorCode: Integer.describe(
      'Stable number: 1000 and up general, 2000 sign-in, 3000 policy, 4000 billing, 5000 configuration.',
    ),
    code: z.enum(codes).describe('Stable name; each apiErrorCode has one.'),
    message: OptionalText,
    requestMethod: OptionalText,
    requestUri: OptionalText,
    referenceId: OptionalText.describe('Also in the X-Request-Id header and the log.'),
    version: OptionalText.describe('Version of the service.'),
    fieldErrors: z.array(ValidationFieldError).optional(),
    policyFieldErrors: PolicyValidationErrors.optional(),
    paymentFieldErrors: FieldErrors.optional(),
    tableErrors: z.array(TableError).optional(),
    searchableFields: z
      .array(Text)
      .optional()
      .describe('If the request searched a field that cannot be searched: the fields that can.'),
    currentETag: OptionalText.describe('With 412: the current ETag of the record.'),
    previewReason: OptionalText.describe(
      'With `previewOutdated`: `expired`, `used`, `account`, `operation`, `body`, `policy` or `price`; for an agent also `unknown`.',
    ),
    timestamp: OptionalText.describe(
      'With `streamRestored`: the time in epoch milliseconds from which to read the event stream.',
    ),
  },
  { description: 'Why a request was not carried out.' },
)
export type ExceptionResponse = z.infer<typeof ExceptionResponse>
