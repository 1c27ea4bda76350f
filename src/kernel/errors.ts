// Every error that Bindery responds with, in one table. Codes are stable because clients match on them. `api` is the integer
// apiErrorCode (brief 8: 1000 generic, 2000 auth, 3000 policy, 4000 billing, 5000 configuration). The table is in its order.

type ErrorKind = { readonly status: number; readonly api: number; readonly about: string }

const kind = (status: number, api: number, about: string): ErrorKind => ({ status, api, about })

export const ERROR_KINDS = {
  malformedJson: kind(400, 1001, 'The body is not JSON.'),
  invalidRequest: kind(400, 1002, 'A property of the request is missing or wrong.'),
  invalidParameter: kind(400, 1003, 'A path, query or header value is wrong.'),
  malformedMultipart: kind(400, 1004, 'The body is not multipart form data, or a part is missing.'),
  unknownPath: kind(404, 1005, 'The path does not exist.'),
  methodNotAllowed: kind(405, 1006, 'The path exists, but not with this method.'),
  notFound: kind(404, 1007, 'The tenant has no such record.'),
  tooLarge: kind(
    413,
    1008,
    'The body is larger than a limit, or the request is for more than a limit allows.',
  ),
  unsupportedMediaType: kind(415, 1009, 'This path does not read a body of that type.'),
  wrongState: kind(409, 1010, 'The record is in a state that does not allow the action.'),
  versionConflict: kind(409, 1011, 'The record has changed in the meantime; read it again.'),
  idempotencyConflict: kind(409, 1012, 'The Idempotency-Key was used with another body.'),
  alreadyExists: kind(409, 1013, 'A record with that name already exists.'),
  tooManyRequests: kind(429, 1014, 'Too many requests; try again after Retry-After seconds.'),
  overloaded: kind(503, 1015, 'Too many requests are waiting; try again after Retry-After seconds.'),
  unavailable: kind(
    503,
    1016,
    'A part of the service does not respond; try again after Retry-After seconds.',
  ),
  preconditionFailed: kind(
    412,
    1017,
    'The record has changed since the tag in `If-Match`; `currentETag` is its current tag.',
  ),
  notAcceptable: kind(406, 1018, 'The Accept header does not allow the type of the response.'),
  databaseFull: kind(507, 1020, 'The database of the tenant is full; reading still works.'),
  streamRestored: kind(
    409,
    1021,
    'The tenant was restored after the token was issued; continue reading from `timestamp`.',
  ),
  previewOutdated: kind(409, 1022, 'The write would not do what was previewed; `previewReason` says why.'),
  exportRestored: kind(
    409,
    1023,
    'The tenant was restored after the cursor was issued; export everything again.',
  ),
  internal: kind(500, 1099, 'The service failed; the referenceId identifies the request in its log.'),
  unauthenticated: kind(401, 2001, 'The token is missing, invalid or expired.'),
  signInFailed: kind(401, 2002, 'User name or password is wrong, or the account is locked.'),
  forbidden: kind(403, 2003, 'The account may not do this.'),
  wrongPassword: kind(
    403,
    2004,
    'The old password is wrong, or the account is locked after too many wrong ones.',
  ),
  weakPassword: kind(400, 2005, 'The new password breaks rules; the message lists them.'),
  beyondOwner: kind(
    422,
    2006,
    'The token would have permissions or tenants that its owner or creator lacks.',
  ),
  identityProviderFailed: kind(
    502,
    2007,
    'The identity provider does not respond, or its response is invalid; nothing was stored.',
  ),
  policyValidation: kind(400, 3001, 'Field values of the policy are wrong; all are listed.'),
  underwritingRefused: kind(409, 3002, 'Underwriting did not accept the application; the notes say why.'),
  policyLimit: kind(413, 3003, 'The policy would exceed one of its limits.'),
  templateFailed: kind(422, 3004, 'A template of the configuration failed.'),
  templateLimit: kind(422, 3005, 'A template of the configuration exceeded a limit.'),
  policyholderValidation: kind(400, 3006, 'Values of the policyholder are wrong; all are listed.'),
  policyholderIncomplete: kind(409, 3007, 'The policyholder is not completed.'),
  amountOutOfRange: kind(422, 3008, 'An amount is larger than the service can store.'),
  pluginFailed: kind(422, 3020, 'A plugin of the configuration failed, or returned something invalid.'),
  pluginLimit: kind(422, 3021, 'A plugin of the configuration exceeded a limit.'),
  pluginRefused: kind(409, 3022, 'A plugin rejected the request; its message says why.'),
  externalRaterFailed: kind(
    502,
    3030,
    'The external rater failed or sent an invalid response; nothing was stored.',
  ),
  externalRaterRefused: kind(409, 3031, 'The external rater rejected the request; its message says why.'),
  integrationFailed: kind(
    502,
    3032,
    'The integration failed or sent an invalid response; nothing was stored.',
  ),
  integrationRefused: kind(
    409,
    3033,
    'A service that fills in data rejected the request; its message says why.',
  ),
  paymentValidation: kind(400, 4001, 'Field values of the payment are wrong; all are listed.'),
  unknownConfigVersion: kind(400, 5001, 'The tenant has no such configuration version.'),
  noConfiguration: kind(409, 5002, 'The tenant has no configuration yet; deploy one.'),
  tenantTypeMismatch: kind(400, 5003, 'The path does not serve tenants of this type.'),
  poolEmpty: kind(503, 5004, 'No database is free for another tenant; `npm run pool -- grow N` adds N.'),
  tenantBehind: kind(503, 5005, "The tenant's database is not migrated yet."),
  resourceNotInForce: kind(404, 5006, 'No resource with the static name is in force at that time and place.'),
  invalidTable: kind(400, 5010, 'An uploaded table has problems; the first 50 are listed with their lines.'),
  tableRecordNotFound: kind(404, 5011, 'The table has no row with these keys.'),
  tenantSuspended: kind(503, 5012, 'The operator suspended the tenant. Nothing is lost; try again later.'),
  tenantMoved: kind(421, 5013, 'The tenant is served at another address, which the message names.'),
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERROR_KINDS

/** Structured problems, sent next to the error message (brief 8). */
export type RefusalDetails = {
  fieldErrors?: unknown
  policyFieldErrors?: unknown
  paymentFieldErrors?: unknown
  tableErrors?: unknown
  searchableFields?: readonly string[]
  /** The current ETag when `If-Match` fails. */
  currentETag?: string
  /** What changed since the preview that `If-Previewed` names. */
  previewReason?: string
  /** Epoch milliseconds from which a reader of the event stream can continue. */
  timestamp?: string
}

/**
 * A rejected request. The message is for the caller: what is wrong, where, and how to fix it. Services and domain code throw it;
 * platform/http maps it to an HTTP response, in one place.
 */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly details: RefusalDetails
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, details: RefusalDetails = {}, retryAfterSeconds?: number) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
  }

  get status(): number {
    return ERROR_KINDS[this.code].status
  }
}

/** From this status up, the request may have changed something. */
const SERVICE_FAULT = 500

/** Whether the request was rejected and changed nothing. After any other failure, it may have changed something. */
export const isRefused = (problem: unknown): problem is Refusal =>
  problem instanceof Refusal && problem.status < SERVICE_FAULT

/** A Refusal as data, because a call of a Durable Object loses the class of an error. */
export type RefusalData = Pick<Refusal, 'code' | 'message' | 'details' | 'retryAfterSeconds'>

export const refusalData = ({ code, message, details, retryAfterSeconds }: Refusal): RefusalData => {
  return { code, message, details, retryAfterSeconds }
}

export const refusalFrom = (data: RefusalData): Refusal =>
  new Refusal(data.code, data.message, data.details, data.retryAfterSeconds)

/** Returns a 404. `what` is the kind of record as a message names it, e.g. `policy`. */
export const notFound = (what: string, locator: string): Refusal =>
  new Refusal('notFound', `There is no ${what} '${locator}'.`)

const refusalOf =
  (code: ErrorCode) =>
  (message: string): Refusal =>
    new Refusal(code, message)

/** Returns a 409. */
export const alreadyExists = refusalOf('alreadyExists')
/** Returns a 403. */
export const forbidden = refusalOf('forbidden')
/** Returns a 400 for the path, the query or a header. */
export const invalidParameter = refusalOf('invalidParameter')
/** Returns a 400 for the body. */
export const invalidRequest = refusalOf('invalidRequest')
/** Returns a 413. */
export const tooLarge = refusalOf('tooLarge')
/** Returns a 401. */
export const unauthenticated = refusalOf('unauthenticated')
/** Returns a 503. */
export const unavailable = refusalOf('unavailable')
/** Returns a 409 for a record that has changed since it was read. */
export const versionConflict = refusalOf('versionConflict')
/** Returns a 409 for a state that does not allow the action. */
export const wrongState = refusalOf('wrongState')

/** Returns a 401 with the code `unauthenticated`. */
export const tokenExpired = (): Refusal => unauthenticated('The token has expired; sign in again.')

/** Returns a 401 with the code `unauthenticated`. */
export const tokenRevoked = (): Refusal => unauthenticated('The token has been revoked; sign in again.')
