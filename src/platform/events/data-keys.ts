// Every property of event data. Values are text (brief 9).

export type KeyKind = 'digits' | 'uuid' | 'timestamp' | 'amount' | 'integer' | 'text'

export type KeyEntry = {
  readonly about: string
  readonly example: string
  readonly kind: KeyKind
  /** The only allowed texts. */
  readonly values?: readonly string[]
}

const digits = (about: string, example: string): KeyEntry => ({ about, example, kind: 'digits' })
const uuid = (about: string, example: string): KeyEntry => ({ about, example, kind: 'uuid' })
const time = (about: string): KeyEntry => ({ about, example: '1772323200000', kind: 'timestamp' })
const text = (about: string, example: string): KeyEntry => ({ about, example, kind: 'text' })
const integer = (about: string, example: string): KeyEntry => ({ about, example, kind: 'integer' })
const oneOf = (about: string, ...values: readonly [string, ...string[]]): KeyEntry => ({
  about,
  example: values[0],
  kind: 'text',
  values,
})

export const KEYS = {
  policyLocator: digits('The policy of the event.', '100002304'),
  policyholderLocator: uuid(
    'The holder of the policy, or the policyholder whose values changed.',
    '5f0c2a54-6c1e-4b0e-9a57-0d3b6f1c7b00',
  ),
  productName: text('The product of the policy.', 'motor'),
  configVersion: integer('Version of the configuration that the policy uses.', '3'),
  fromConfigVersion: integer('Version of the configuration that the policy used before.', '3'),
  toConfigVersion: integer('Version of the configuration that the policy uses now.', '4'),
  paymentScheduleName: text("The policy's new payment schedule.", 'monthly'),
  quoteLocator: digits('The quote of the event.', '100002368'),
  quoteName: text('Display name of the quote.', 'quote 1'),
  decision: oneOf('The decision of underwriting, or of a person in its place.', 'accept', 'reject', 'none'),
  issuedTimestamp: time('When the policy was issued.'),
  endorsementLocator: digits('The endorsement of the event.', '100002432'),
  endorsementName: text('Type of endorsement in the configuration.', 'addVehicle'),
  renewalLocator: digits('The renewal of the event.', '100002496'),
  effectiveTimestamp: time('When it takes effect.'),
  state: text('The state of the endorsement or renewal after the event.', 'issued'),
  modificationLocator: uuid(
    'The modification of the policy that was created.',
    '0b54cbb5-64f1-4a5f-8f7e-2c2a9a3b6e00',
  ),
  modificationName: text('Name of the transaction in the configuration.', 'modification.policy.cancel'),
  cancellationLocator: digits('The cancellation of the event, or the one that is reversed.', '100002560'),
  cancellationName: text('Type of cancellation in the configuration.', 'insuredRequest'),
  reinstatementLocator: uuid('The reinstatement of the event.', '7ad1c2bf-93c0-4a06-b4a1-5a0f83dcb700'),
  deadline: time('Latest time at which it can be issued.'),
  gracePeriodLocator: uuid(
    'The grace period that began, changed or ended.',
    'a1f8b0de-0f5c-4e8f-9a55-3c4fbe1f2600',
  ),
  start: time('When the grace period began.'),
  end: time('When it ends.'),
  cancelEffectiveTimestamp: time('When the policy would lapse, if that is set.'),
  lapseLocator: uuid('The lapse for non-payment.', 'c2d7b6a1-7fbb-4a1d-93c5-8b0e6a5d1f00'),
  endTimestamp: time('When the policy ends.'),
  reminderName: text('The reminder of the configuration.', 'renewalNotice'),
  invoiceLocator: uuid('The invoice of the event.', 'd94b1b4f-30a5-4f40-8b1c-6c3a2f0f9d00'),
  totalDue: { about: 'The amount due; negative: a refund.', example: '120.50', kind: 'amount' },
  currency: text('ISO 4217 code of the amount.', 'EUR'),
  dueTimestamp: time('When the invoice is due.'),
  invoiceType: text('The reason for the invoice.', 'newBusiness'),
  paymentLocator: uuid('The payment that was made or reversed.', 'e7a3d2c4-1b6f-4c8e-a0d9-5f7b2e4c8a00'),
  amount: { about: 'The amount paid; negative: paid out.', example: '120.50', kind: 'amount' },
  source: oneOf('Where the money came from.', 'received', 'credit', 'offset'),
  version: integer('Version of the policyholder.', '2'),
  username: text('The user who signed in or tried to.', 'alice'),
  accountType: text(
    'The type of the account; `account.unauthenticated` if there is none.',
    'account.tenant.employee',
  ),
  reason: oneOf(
    'Why the sign-in failed.',
    'wrongPassword',
    'unknownUser',
    'locked',
    'disabled',
    'noPassword',
    'closedMeanwhile',
    'noRole',
  ),
  documentLocator: uuid('The document that was created or failed.', 'f2b9e4d1-8c3a-4d7f-b6e5-1a9c0d8e7f00'),
  referenceType: text('The kind of record to which the document or the note belongs.', 'policy'),
  referenceLocator: text('The record to which the document or the note belongs.', '100002304'),
  noteLocator: uuid('The note that was written or deleted.', '9b8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  reportLocator: uuid('The report that ended.', '4d8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  reportName: text('The kind of report.', 'earnedPremium'),
  reportState: oneOf('Whether its files are available.', 'finished', 'error'),
  migrationLocator: uuid('The migration of the event.', '3c8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  migrationType: oneOf(
    'What it imports: accounts, or items of an existing account.',
    'fullMigration',
    'addAccountItems',
  ),
  totalAccounts: integer('Number of accounts that it imports.', '1000'),
  accountLocator: uuid('The account that was corrected.', '5f0c2a54-6c1e-4b0e-9a57-0d3b6f1c7b00'),
  completedAccounts: integer('Number of completed accounts.', '998'),
  failedAccounts: integer('Number of accounts with wrong data.', '2'),
  erroredAccounts: integer('Number of accounts that a system error stopped.', '0'),
  message: text('The reason for the failure, or a warning.', 'The template names no field “vin”.'),
} as const satisfies Record<string, KeyEntry>

export type Key = keyof typeof KEYS

/** `text` has no pattern. */
export const PATTERNS: Readonly<Partial<Record<KeyKind, RegExp>>> = {
  digits: /^[1-9][0-9]{8,15}$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  timestamp: /^-?[0-9]+$/,
  amount: /^-?[0-9]+(\.[0-9]+)?$/,
  integer: /^[0-9]+$/,
}
