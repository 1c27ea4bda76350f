// Titles and texts of the work lists.

export type WorkListWords = {
  readonly title: string
  readonly about: string
  /** What `timestamp` means, as the title of its column. */
  readonly when: string
  readonly none: string
}

export const WORK_LISTS = {
  referred: {
    title: 'Referred quotes',
    about: 'Underwriting referred these for a decision. A decision removes them from the list.',
    when: 'Referred',
    none: 'No quote is waiting for a decision.',
  },
  applications: {
    title: 'Applications for changes',
    about: 'Endorsements and renewals that are not quoted yet, or that underwriting rejected.',
    when: 'Last changed',
    none: 'No endorsement or renewal is waiting to be quoted.',
  },
  quoted: {
    title: 'Quoted, not accepted',
    about: 'Quotes, endorsements and renewals with a price that nobody has accepted.',
    when: 'Quoted',
    none: 'Nothing is waiting for acceptance.',
  },
  expiring: {
    title: 'Expiring policies',
    about: 'Policies in force that end soon and are not renewed. The first to end comes first.',
    when: 'Ends',
    none: 'No policy ends in this period.',
  },
  pastDue: {
    title: 'Unpaid invoices',
    about: 'Invoices that are past due and not paid.',
    when: 'Was due',
    none: 'No invoice is past due.',
  },
  inGrace: {
    title: 'In grace period',
    about: 'Policies in a grace period. They lapse at its end.',
    when: 'Grace period ends',
    none: 'No policy is in a grace period.',
  },
  reinstatable: {
    title: 'Lapsed, can be reinstated',
    about: 'Policies that lapsed for non-payment and can be reinstated.',
    when: 'Until, or lapsed on',
    none: 'No lapsed policy can be reinstated.',
  },
  failedDocuments: {
    title: 'Failed documents',
    about: 'Documents that could not be rendered, with the reason.',
    when: 'Failed',
    none: 'All documents were rendered.',
  },
  policies: {
    title: 'All policies',
    about: 'All policies, in the order of their creation.',
    when: 'Created',
    none: 'There are no policies yet.',
  },
  deliveries: {
    title: 'Failed deliveries',
    about: 'Events that a webhook did not accept: given up in the last 30 days, or diverted.',
    when: 'Given up',
    none: 'All events were delivered.',
  },
  migrations: {
    title: 'Open migrations',
    about: 'Migrations that are running or paused, or that ended with failures.',
    when: 'Last changed',
    none: 'There are no open migrations.',
  },
} as const satisfies Record<string, WorkListWords>

export type ListName = keyof typeof WORK_LISTS

export const WORDS = {
  work: 'Work',
  notAList: 'There is no list of that name.',
  allWork: 'All work',
  product: 'Product',
  every: 'All',
  type: 'Record',
  state: 'State',
  days: { expiring: 'Ends within (days)', reinstatable: 'Lapsed within (days)' },
  apply: 'Show',
  nextPage: 'Next page',
  firstPage: 'First page',
  end: 'End of the list.',
  notAChoice: (filter: string, value: string): string =>
    `“${value}” is not a choice of “${filter}”. The address is incomplete or out of date.`,
  notACount: (filter: string, most: number): string =>
    `“${filter}” must be a whole number from 1 to ${most}.`,
  notADay: (filter: string): string => `“${filter}” must be a day, such as 2026-11-01.`,
  periodEndsFirst: 'The period ends before it begins.',
  noPage: 'This page of the list does not exist. The address is incomplete or out of date.',
  noneChosen: 'Nothing on the list matches this selection.',
  showAll: 'Show the whole list',
  record: 'Record',
  policy: 'Policy',
  policyholder: 'Policyholder',
  term: 'Term',
  premium: 'Premium',
  notes: 'Notes',
  webhook: 'Webhook',
  event: 'Event',
  outcome: 'Outcome',
  migration: 'Migration',
  accounts: 'Accounts',
  submittedBy: 'Submitted by',
  count: (count: number, hasMore: boolean): string => `${count.toLocaleString()}${hasMore ? ' or more' : ''}`,
  onThisPage: (count: number): string =>
    count === 1 ? '1 record on this page' : `${count.toLocaleString()} records on this page`,
} as const

/** States of policies as of now. */
export const POLICY_STATES = [
  'created',
  'quoted',
  'declined',
  'finalized',
  'discarded',
  'lapsed',
  'inGrace',
  'pending',
  'issued',
  'expired',
  'cancelled',
  'withdrawn',
]
