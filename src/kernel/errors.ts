// Every way to refuse a request, in one table. A code is stable: clients match on it. `api` is the integer
// apiErrorCode (brief 8: 1000 generic, 2000 auth, 3000 policy, 4000 billing, 5000 configuration).

type ErrorKind = { status: number; api: number; about: string }

export const ERROR_KINDS = {
  malformedJson: { status: 400, api: 1001, about: 'The body is not JSON.' },
  invalidRequest: { status: 400, api: 1002, about: 'A property of the request is missing or wrong.' },
  invalidParameter: { status: 400, api: 1003, about: 'A path, query or header value is wrong.' },
  malformedMultipart: {
    status: 400,
    api: 1004,
    about: 'The body is not multipart form data, or a part is missing.',
  },
  unknownPath: { status: 404, api: 1005, about: 'No such path.' },
  methodNotAllowed: { status: 405, api: 1006, about: 'The path exists, but not with this method.' },
  notFound: { status: 404, api: 1007, about: 'No such record, or none that this tenant has.' },
  tooLarge: { status: 413, api: 1008, about: 'The body, or what it asks for, is over a limit.' },
  unsupportedMediaType: {
    status: 415,
    api: 1009,
    about: 'The body is of a type that this path does not read.',
  },
  wrongState: { status: 409, api: 1010, about: 'The record is in a state that does not allow the action.' },
  versionConflict: { status: 409, api: 1011, about: 'The record has changed since; read it again.' },
  idempotencyConflict: { status: 409, api: 1012, about: 'The Idempotency-Key was used with another body.' },
  preconditionFailed: {
    status: 412,
    api: 1017,
    about: 'The record is not as `If-Match` says; read it again. `currentETag` is what it has now.',
  },
  notAcceptable: { status: 406, api: 1018, about: 'The Accept header leaves out what the answer is.' },
  alreadyExists: { status: 409, api: 1013, about: 'A record of that name exists.' },
  tooManyRequests: {
    status: 429,
    api: 1014,
    about: 'Too many requests; try again after Retry-After seconds.',
  },
  overloaded: {
    status: 503,
    api: 1015,
    about: 'Too much waits in line; try again after Retry-After seconds.',
  },
  unavailable: {
    status: 503,
    api: 1016,
    about: 'A part of the service does not answer; try again after Retry-After seconds.',
  },
  databaseFull: {
    status: 507,
    api: 1020,
    about: 'The database has no room for more; reading goes on.',
  },
  internal: { status: 500, api: 1099, about: 'A fault of the service; the referenceId finds it in the log.' },
  unauthenticated: { status: 401, api: 2001, about: 'No token, or one that is wrong or has expired.' },
  signInFailed: {
    status: 401,
    api: 2002,
    about: 'User name or password is wrong, or the account is locked.',
  },
  forbidden: { status: 403, api: 2003, about: 'The account may not do this.' },
  wrongPassword: {
    status: 403,
    api: 2004,
    about: 'The old password is wrong, or the account is locked because it was wrong too often.',
  },
  weakPassword: { status: 400, api: 2005, about: 'The new password breaks rules; all are named.' },
  beyondOwner: {
    status: 422,
    api: 2006,
    about: 'It would have permissions or tenants that its owner, or who makes it, lacks; they are named.',
  },
  policyValidation: {
    status: 400,
    api: 3001,
    about: 'Field values of the policy are wrong; all are listed.',
  },
  underwritingRefused: { status: 409, api: 3002, about: 'Underwriting did not accept; the notes say why.' },
  policyLimit: { status: 413, api: 3003, about: 'The policy would pass one of its limits.' },
  templateFailed: { status: 422, api: 3004, about: 'A template of the configuration failed.' },
  templateLimit: { status: 422, api: 3005, about: 'A template of the configuration passed a counted limit.' },
  amountOutOfRange: {
    status: 422,
    api: 3008,
    about: 'An amount is larger than the service keeps.',
  },
  pluginFailed: {
    status: 422,
    api: 3020,
    about: 'A plugin of the configuration failed, or answered nonsense.',
  },
  pluginLimit: { status: 422, api: 3021, about: 'A plugin of the configuration passed a limit.' },
  pluginRefused: { status: 409, api: 3022, about: 'A plugin refused; its message says why.' },
  externalRaterFailed: {
    status: 502,
    api: 3030,
    about: 'The external rater did not answer, or answered nonsense; nothing was stored.',
  },
  externalRaterRefused: {
    status: 409,
    api: 3031,
    about: 'The external rater refused; its message says why.',
  },
  integrationFailed: {
    status: 502,
    api: 3032,
    about: 'A service that fills in data did not answer, or answered nonsense; nothing was stored.',
  },
  integrationRefused: {
    status: 409,
    api: 3033,
    about: 'A service that fills in data refused; its message says why.',
  },
  policyholderValidation: {
    status: 400,
    api: 3006,
    about: 'Values of the policyholder are wrong; all are listed.',
  },
  policyholderIncomplete: { status: 409, api: 3007, about: 'The policyholder is not completed.' },
  paymentValidation: {
    status: 400,
    api: 4001,
    about: 'Field values of the payment are wrong; all are listed.',
  },
  unknownConfigVersion: { status: 400, api: 5001, about: 'The tenant has no such configuration version.' },
  noConfiguration: { status: 409, api: 5002, about: 'The tenant has no configuration yet; deploy one.' },
  tenantTypeMismatch: { status: 400, api: 5003, about: 'The route does not serve tenants of this type.' },
  resourceNotInForce: {
    status: 404,
    api: 5006,
    about: 'No resource of the static name is in force at that time and place.',
  },
  invalidTable: {
    status: 400,
    api: 5010,
    about: 'An uploaded table has problems; the first 50 are listed with their lines.',
  },
  tableRecordNotFound: { status: 404, api: 5011, about: 'The table has no record of these keys.' },
  streamRestored: {
    status: 409,
    api: 1021,
    about: 'The tenant was restored since the token was given out; `timestamp` is the time to read from.',
  },
  tenantSuspended: {
    status: 503,
    api: 5012,
    about: 'The operator has suspended the tenant; the message says why. Nothing is lost; try again later.',
  },
  tenantMoved: {
    status: 421,
    api: 5013,
    about: 'The tenant is served at another address, which the message names.',
  },
  poolEmpty: {
    status: 503,
    api: 5004,
    about: 'No free tenant database; `npm run pool -- grow N` adds some.',
  },
  tenantBehind: { status: 503, api: 5005, about: "The tenant's database waits for a migration." },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERROR_KINDS

/** Structured problems that go into the answer beside the message (brief 8). */
export type RefusalDetails = {
  fieldErrors?: unknown
  policyFieldErrors?: unknown
  paymentFieldErrors?: unknown
  tableErrors?: unknown
  searchableFields?: readonly string[]
  /** Of a record that is not as the request takes it to be. */
  currentETag?: string
  /** The time, in epoch milliseconds, from which a reader of the event stream goes on. */
  timestamp?: string
}

/**
 * A request that is not carried out, with what the caller may read: a message that says what is wrong, where,
 * and what to do. Thrown by services and domain alike; turned into HTTP once, in platform/http.
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

/** Statuses from here on leave open whether anything was done. */
const SERVICE_FAULT = 500

/** Whether it refuses the request, so that nothing was done. After any other failure, something may have been. */
export const isRefused = (problem: unknown): problem is Refusal =>
  problem instanceof Refusal && problem.status < SERVICE_FAULT

/** A Refusal as data, to cross a Durable Object call, where classes are lost. */
export type RefusalData = {
  code: ErrorCode
  message: string
  details: RefusalDetails
  retryAfterSeconds?: number
}

export const refusalData = (refusal: Refusal): RefusalData => ({
  code: refusal.code,
  message: refusal.message,
  details: refusal.details,
  retryAfterSeconds: refusal.retryAfterSeconds,
})

export const refusalFrom = (data: RefusalData): Refusal =>
  new Refusal(data.code, data.message, data.details, data.retryAfterSeconds)

export const notFound = (what: string, locator: string): Refusal =>
  new Refusal('notFound', `There is no ${what} '${locator}'.`)

const refusalOf =
  (code: ErrorCode) =>
  (message: string): Refusal =>
    new Refusal(code, message)

export const alreadyExists = refusalOf('alreadyExists')
export const forbidden = refusalOf('forbidden')
export const invalidParameter = refusalOf('invalidParameter')
export const invalidRequest = refusalOf('invalidRequest')
export const tooLarge = refusalOf('tooLarge')
export const unavailable = refusalOf('unavailable')
export const versionConflict = refusalOf('versionConflict')
export const wrongState = refusalOf('wrongState')
