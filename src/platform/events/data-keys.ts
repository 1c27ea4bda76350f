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
const time = (about: string, example = '1772323200000'): KeyEntry => ({ about, example, kind: 'timestamp' })
const text = (about: string, example: string): KeyEntry => ({ about, example, kind: 'text' })
const integer = (about: string, example: string): KeyEntry => ({ about, example, kind: 'integer' })
const oneOf = (about: string, ...values: readonly [string, ...string[]]): KeyEntry => ({
  about,
  example: values[0],
  kind: 'text',
  values,
})

export const KEYS = {
  policyLocator: digits('The policy that it happened to.', '100002304'),
  policyholderLocator: uuid(
    'Who holds the policy, or whose values changed.',
    '5f0c2a54-6c1e-4b0e-9a57-0d3b6f1c7b00',
  ),
  productName: text('The product of the policy.', 'motor'),
  configVersion: integer('Version of the configuration that the policy has.', '3'),
  fromConfigVersion: integer('Version of the configuration that the policy had.', '3'),
  toConfigVersion: integer('Version of the configuration that it has now.', '4'),
  paymentScheduleName: text('The payment schedule that it has now.', 'monthly'),
  quoteLocator: digits('The offer that it happened to.', '100002368'),
  quoteName: text('What people call the offer.', 'quote 1'),
  decision: oneOf('What underwriting, or a person in its place, decided.', 'accept', 'reject', 'none'),
  issuedTimestamp: time('When the policy was issued.'),
  endorsementLocator: digits('The change of the policy that it happened to.', '100002432'),
  endorsementName: text('Type of endorsement in the configuration.', 'addVehicle'),
  renewalLocator: digits('The next term that it happened to.', '100002496'),
  effectiveTimestamp: time('When it takes effect.'),
  state: text('The state of the endorsement or renewal after the act.', 'issued'),
  modificationLocator: uuid(
    'The modification of the policy that it made.',
    '0b54cbb5-64f1-4a5f-8f7e-2c2a9a3b6e00',
  ),
  modificationName: text(
    'What the transaction is called in the configuration.',
    'modification.policy.cancel',
  ),
  cancellationLocator: digits('The cancellation that it happened to, or that is taken back.', '100002560'),
  cancellationName: text('Type of cancellation in the configuration.', 'insuredRequest'),
  reinstatementLocator: uuid(
    'The reinstatement that it happened to.',
    '7ad1c2bf-93c0-4a06-b4a1-5a0f83dcb700',
  ),
  deadline: time('Until when it may be issued.'),
  gracePeriodLocator: uuid(
    'The grace period that began, changed or ended.',
    'a1f8b0de-0f5c-4e8f-9a55-3c4fbe1f2600',
  ),
  start: time('When the grace period began.'),
  end: time('When it ends.'),
  cancelEffectiveTimestamp: time('When the policy would be taken off risk, if that is set.'),
  lapseLocator: uuid(
    'The end of cover for non-payment that it is about.',
    'c2d7b6a1-7fbb-4a1d-93c5-8b0e6a5d1f00',
  ),
  endTimestamp: time('When the policy ends.'),
  reminderName: text('The reminder of the configuration.', 'renewalNotice'),
  invoiceLocator: uuid('The invoice that it happened to.', 'd94b1b4f-30a5-4f40-8b1c-6c3a2f0f9d00'),
  totalDue: { about: 'What the invoice asks for; negative: a refund.', example: '120.50', kind: 'amount' },
  currency: text('ISO 4217 code of the amount.', 'EUR'),
  dueTimestamp: time('When the invoice is due.'),
  invoiceType: text('What the invoice is for.', 'newBusiness'),
  paymentLocator: uuid('The payment that was made or taken back.', 'e7a3d2c4-1b6f-4c8e-a0d9-5f7b2e4c8a00'),
  amount: { about: 'What was paid; negative: paid out.', example: '120.50', kind: 'amount' },
  source: oneOf('Where the money came from.', 'received', 'credit', 'offset'),
  version: integer('Version of the policyholder.', '2'),
  username: text('Who signed in, or tried to.', 'alice'),
  accountType: text(
    'The type of the account; `account.unauthenticated` when there is none.',
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
  documentLocator: uuid('The document that was made or failed.', 'f2b9e4d1-8c3a-4d7f-b6e5-1a9c0d8e7f00'),
  referenceType: text('What kind of record the document or the note is of.', 'policy'),
  referenceLocator: text('The record that the document or the note is of.', '100002304'),
  noteLocator: uuid('The note that was written or deleted.', '9b8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  reportLocator: uuid('The report that ended.', '4d8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  reportName: text('The kind of report.', 'earnedPremium'),
  reportState: oneOf('Whether its files are there.', 'finished', 'error'),
  migrationLocator: uuid('The migration that it happened to.', '3c8e1d6a-2f4b-4e90-8a7d-6b5c4f3e2d00'),
  migrationType: oneOf(
    'What it brings: accounts, or items of one that exists.',
    'fullMigration',
    'addAccountItems',
  ),
  totalAccounts: integer('Accounts that it brings.', '1000'),
  accountLocator: uuid('The account of it that was patched.', '5f0c2a54-6c1e-4b0e-9a57-0d3b6f1c7b00'),
  completedAccounts: integer('Accounts of it that are completed.', '998'),
  failedAccounts: integer('Accounts of it whose data is wrong.', '2'),
  erroredAccounts: integer('Accounts of it that a fault of the system stopped.', '0'),
  message: text(
    'What there is to say of it: why it failed, or a warning.',
    'The template names no field “vin”.',
  ),
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
