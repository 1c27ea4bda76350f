// Writes docs/errors.md: every error code with its cause and what to do about it. npm run docs:errors
import { readFileSync, writeFileSync } from 'node:fs'
import { ERROR_KINDS, type ErrorCode } from '../src/kernel/errors.ts'
import { betweenMarks } from './marks.ts'

export const ERRORS_PAGE = 'docs/errors.md'

const BEGIN = '<!-- errors:begin -->'
const END = '<!-- errors:end -->'

/** What the caller does about it. */
const REMEDIES: Record<ErrorCode, string> = {
  malformedJson: 'Send JSON; the message has the line and column of the fault.',
  invalidRequest: 'Correct the properties in `fieldErrors`.',
  invalidParameter: 'Correct the parameter or header that the message names.',
  malformedMultipart: 'Send `multipart/form-data` with a boundary and the parts that the reference lists.',
  unknownPath: 'Compare the path with `GET /openapi.json`.',
  methodNotAllowed: 'Use one of the methods in the `Allow` header.',
  notFound: 'Check the locator, and that it belongs to the tenant of your token.',
  tooLarge: 'Send less, or ask for less; the message has the limit.',
  unsupportedMediaType: 'Set `Content-Type` to what the reference says, usually `application/json`.',
  wrongState: 'Read the record. The message says what its state allows ([states](states.md)).',
  versionConflict: 'Read the record again, and repeat the change if it is still right.',
  idempotencyConflict: 'Use a new `Idempotency-Key` for another request.',
  preconditionFailed: 'Read the record again; `currentETag` is its tag now.',
  previewOutdated: 'Preview the transaction again, look at it, and send its new `previewToken`.',
  notAcceptable: 'Let `Accept` include `application/json`, or leave it out.',
  alreadyExists: 'Use the record that there is, or choose another name.',
  tooManyRequests: 'Wait `Retry-After` seconds and try again.',
  overloaded: 'Wait `Retry-After` seconds and try again.',
  unavailable: 'Wait `Retry-After` seconds and try again, a write with the same `Idempotency-Key`.',
  databaseFull: 'Tell the team that operates the service: the tenant needs another database.',
  internal: 'Report it with its `referenceId`. A write may be tried again with the same `Idempotency-Key`.',
  unauthenticated: 'Sign in again, and send the token as `Authorization: Bearer …`.',
  signInFailed: 'Check user name, password and tenant. An administrator unlocks a locked account.',
  forbidden: 'Ask an administrator for the permission that the message names.',
  wrongPassword: 'Send the right old password, or have an administrator set a new one.',
  weakPassword: 'Choose a password that keeps the rules in the message.',
  beyondOwner: 'Leave out the permissions and tenants that the message names.',
  policyValidation: 'Correct the fields in `policyFieldErrors`.',
  underwritingRefused: 'Change the application, or refer it to a person who may decide.',
  policyLimit: 'Make the policy smaller; the message has the limit.',
  templateFailed: 'The author of the product corrects the template at the line in the message.',
  templateLimit: 'The author of the product simplifies the template that the message names.',
  amountOutOfRange: 'Check the amount, and the rates that it comes from.',
  pluginFailed: 'The author of the product corrects the plugin; the plugin log has what it printed.',
  pluginLimit: 'The author of the product makes the plugin do less.',
  pluginRefused: 'Do what the message of the plugin says.',
  externalRaterFailed:
    'Try again; if it goes on, look at the log of calls ([integrations](integrations.md)).',
  externalRaterRefused: 'Do what the message of the rater says.',
  integrationFailed: 'Try again; if it goes on, look at the log of calls ([integrations](integrations.md)).',
  integrationRefused: 'Do what the message of the service says.',
  policyholderValidation: 'Correct the values in `fieldErrors`.',
  policyholderIncomplete: 'Complete the policyholder first: `completed: true` with all required values.',
  paymentValidation: 'Correct the fields in `paymentFieldErrors`.',
  unknownConfigVersion: 'Use a version that `GET /deployments/versions` lists.',
  noConfiguration: 'Deploy a configuration: `npx bindery deploy`.',
  tenantTypeMismatch:
    'Use the other deployment path: tests go to test tenants, production to production tenants.',
  resourceNotInForce:
    'Put a resource of that name in force for that time and place ([resources](resources.md)).',
  invalidTable: 'Correct the lines in `tableErrors`.',
  tableRecordNotFound: 'Check the keys; they are compared exactly.',
  streamRestored: 'Read on from `timestamp` in the answer, and expect events that you have seen.',
  tenantSuspended: 'Ask the team that operates the service.',
  tenantMoved: 'Send the request to the address in the message.',
  poolEmpty: 'The operator adds databases: `npm run pool -- grow N`.',
  tenantBehind: 'Wait `Retry-After` seconds: a migration is under way.',
}

const rows = (): string[] =>
  Object.entries(ERROR_KINDS)
    .sort(([, a], [, b]) => a.api - b.api)
    .map(
      ([code, { status, api, about }]) =>
        `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${status} | ${api} | ${about} | ${REMEDIES[code as ErrorCode]} |`,
    )

/** The page with the codes of today between its marks. Throws when it has no marks. */
export function withErrors(page: string): string {
  const table = [
    '| `code` | status | `apiErrorCode` | cause | what to do |',
    '| ------ | ------ | -------------- | ----- | ---------- |',
    ...rows(),
  ].join('\n')
  return betweenMarks(page, BEGIN, END, table)
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, withErrors(readFileSync(ERRORS_PAGE, 'utf8')))
