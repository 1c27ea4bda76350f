// What the caller can do about each error, for docs/errors.md, where these links belong, and for the OpenAPI document.
import type { ErrorCode } from '../kernel/errors.ts'

export const REMEDIES: Readonly<Record<ErrorCode, string>> = {
  malformedJson: 'Send valid JSON. The message has the line and column of the fault.',
  invalidRequest: 'Correct the properties in `fieldErrors`.',
  invalidParameter: 'Correct the parameter or header that the message names.',
  malformedMultipart: 'Send `multipart/form-data` with a boundary and the parts that the reference lists.',
  unknownPath: 'Compare the path with `GET /openapi.json`.',
  methodNotAllowed: 'Use one of the methods in the `Allow` header.',
  notFound: 'Check the locator, and that it belongs to the tenant of your token.',
  tooLarge: 'Send less data, or request less. The message has the limit.',
  unsupportedMediaType: 'Set `Content-Type` to the type in the reference, usually `application/json`.',
  wrongState: 'Read the record. The message says what its state permits ([states](states.md)).',
  versionConflict: 'Read the record again, and repeat the change if it is still right.',
  idempotencyConflict: 'Use a new `Idempotency-Key` for a different request.',
  preconditionFailed: 'Read the record again. `currentETag` is its current tag.',
  previewOutdated: 'Preview the transaction again, check it, and send its new `previewToken`.',
  notAcceptable: 'Include `application/json` in `Accept`, or omit the header.',
  alreadyExists: 'Use the existing record, or choose another name.',
  tooManyRequests: 'Wait for `Retry-After` seconds and try again.',
  overloaded: 'Wait for `Retry-After` seconds and try again.',
  unavailable:
    'Wait for `Retry-After` seconds and try again. Repeat a write with the same `Idempotency-Key`.',
  databaseFull: 'Ask the team that operates the service to give the tenant a further database.',
  internal: 'Report it with its `referenceId`. You can retry a write with the same `Idempotency-Key`.',
  unauthenticated: 'Sign in again, and send the token as `Authorization: Bearer …`.',
  signInFailed: 'Check user name, password and tenant. An administrator can unlock a locked account.',
  forbidden: 'Ask an administrator for the permission that the message names.',
  wrongPassword: 'Send the correct old password, or ask an administrator to set a new one.',
  weakPassword: 'Choose a password that satisfies the rules in the message.',
  beyondOwner: 'Remove the permissions and tenants that the message names.',
  identityProviderFailed:
    'Try again in a minute. If it fails again, an administrator should compare the provider in `GET /auth/providers` with the message.',
  policyValidation: 'Correct the fields in `policyFieldErrors`.',
  underwritingRefused: 'Change the application, or refer it to a person who can decide.',
  policyLimit: 'Make the policy smaller. The message has the limit.',
  templateFailed: 'The author of the product must correct the template at the line in the message.',
  templateLimit: 'The author of the product must simplify the template that the message names.',
  amountOutOfRange: 'Check the amount, and the rates from which it was computed.',
  pluginFailed: 'The author of the product must correct the plugin. The plugin log has its output.',
  pluginLimit: 'The author of the product must make the plugin do less.',
  pluginRefused: 'Follow the message of the plugin.',
  externalRaterFailed:
    'Try again. If it fails again, check the log of calls ([integrations](integrations.md)).',
  externalRaterRefused: 'Follow the message of the rater.',
  integrationFailed:
    'Try again. If it fails again, check the log of calls ([integrations](integrations.md)).',
  integrationRefused: 'Follow the message of the service.',
  policyholderValidation: 'Correct the values in `fieldErrors`.',
  policyholderIncomplete: 'Complete the policyholder first: `completed: true` with all required values.',
  paymentValidation: 'Correct the fields in `paymentFieldErrors`.',
  unknownConfigVersion: 'Use a version that `GET /deployments/versions` lists.',
  noConfiguration: 'Deploy a configuration: `npx bindery deploy`.',
  tenantTypeMismatch:
    'Use the other deployment path: test paths for test tenants, production paths for production tenants.',
  resourceNotInForce:
    'Add a resource of that name that is in force at that time and in that jurisdiction ([resources](resources.md)).',
  invalidTable: 'Correct the lines in `tableErrors`.',
  tableRecordNotFound: 'Check the keys. They are compared exactly.',
  streamRestored:
    'Continue from `timestamp` in the answer, and expect events that you have already received.',
  exportRestored:
    'Take a new cursor from `GET /export` and export everything again. Your copy contains changes that the restore undid.',
  tenantSuspended: 'Ask the team that operates the service.',
  tenantMoved: 'Send the request to the address in the message.',
  poolEmpty: 'The operator must add databases: `npm run pool -- grow N`.',
  tenantBehind: 'Wait for `Retry-After` seconds. A migration is in progress.',
}
