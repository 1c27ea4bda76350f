// Texts of the desk's forms and dialogs, which are loaded with it. For another language, write another file of this shape.

export const FORMS = {
  closeAgain: 'Your entries are not saved. Close the dialog again to discard them.',
  closeUnfinished:
    'It is unknown whether the request was carried out. Try again to find out, or close the dialog again and look for it on the page.',
  // Rejections.
  reload: 'Reload',
  reloadAbout: 'Reload to see the latest data. Your entries are kept.',
  reloaded: 'This is the latest data, with your entries.',
  againLater: 'Nothing was changed, and your entries are kept. Try again in a moment.',
  // Fields.
  incomplete: 'Fill in the marked fields. Nothing is saved yet.',
  required: 'Enter a value.',
  quoted: (title: string): string => `“${title}”`,
  requiredDay: 'Enter a day.',
  noChoice: 'With the other entries, no choice is possible.',
  choicesFollow: (fields: string): string => `The choices depend on: ${fields}.`,
  choicesFailed: 'The choices could not be loaded. You can type the value.',
  cleared: (values: string): string => `Removed because no longer possible: ${values}.`,
  largestFile: 'At most 25 MiB.',
  emptyFile: 'The file is empty.',
  fileTooLarge: 'The file is larger than 25 MiB. Choose a smaller one.',
  notADocument: 'Choose a PDF or an HTML file.',
  mayNotUpload: 'This account may not upload files.',
  uploading: 'Uploading …',
  // Previews.
  notAccepted: 'Underwriting does not accept it.',
  whatChanges: 'What changes',
  nothingElse: 'No values of the policy change.',
  before: 'Before',
  isCovered: 'Covered',
  notCovered: 'Not covered',
  // Transactions.
  loadsPerils: 'perils',
  addPerils: 'Add perils',
  limitsOf: (peril: string): string => `Limits and details of ${peril}`,
  amounts: {
    deductible: 'Deductible',
    indemnityPerItem: 'Limit for each item',
    indemnityPerEvent: 'Limit for each event',
    indemnityInAggregate: 'Aggregate limit',
    lumpSumPayment: 'Lump sum',
  },
  orUnlimited: 'An amount, or “unlimited”',
  notALimit: 'Enter an amount, such as 500.00.',
  notAnIndemnity: 'Enter an amount, such as 500.00, or “unlimited”.',
  // Fees, payment schedule, withdrawing.
  feesChanged: 'The fees are changed.',
  feesToReverse: 'Fees to reverse',
  newFee: 'New fee',
  noFee: 'None',
  feeUntil: 'Until',
  description: 'Description',
  newNote: 'New note',
  // Payments.
  refundTo: 'To',
  paidOut: 'Paid out',
  isPaidOut: (amount: string): string => `The payout of ${amount} is posted.`,
  isCredited: (amount: string): string => `${amount} is added to the credit of the policyholder.`,
  isSettled: 'The invoice is settled. Nothing is due any more.',
  /** `digits` is how many digits the currency has after the point. */
  notAnAmount: (digits: number): string => `Enter an amount, such as ${(12.5).toFixed(digits)}.`,
  feeBilled: (fee: string, amount: string): string => `${fee}: ${amount} is billed immediately.`,
  feesGoBack: (amount: string): string =>
    `Fees of ${amount} are reversed: the billed part is refunded, and the rest is not billed.`,
  scheduleChanged: 'The payment schedule is changed.',
  scheduleNow: 'Current',
  scheduleAbout:
    'Amounts that are not billed yet are replanned from today, and amounts that are due are billed immediately. Existing invoices do not change.',
  withdrawAbout:
    'The policy is cancelled from its start: premium, taxes and fees become zero, and payments are refunded. It cannot be changed afterwards.',
  paidSoFar: 'Paid so far',
  withdrawn: 'The policy is withdrawn.',
  discardAbout:
    'The policy was never in force. Its quotes are discarded with it, and it cannot be changed afterwards.',
  policyDiscarded: 'The policy is discarded.',
  rescind: 'Withdraw',
  rescinded: 'withdrawn',
  rescindAbout: 'The draft of the cancellation is withdrawn. The policy stays in force.',
  // Notes.
  moreNotes: 'Show later notes',
} as const
