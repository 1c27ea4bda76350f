// Documents, with links to their files.
import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment, transaction } from '../format.ts'
import { desk } from '../open-desk.ts'
import { badge, emptyNote, section, table } from '../parts.ts'
import type { Policy, PolicyDocument } from '../wire.ts'
import { DESK } from '../words.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

/** Whether an address is a web address. The service sends its own signed addresses; links to any other scheme are not shown. */
const isFile = (url: string): boolean => {
  const { protocol } = new URL(url, location.href)
  return protocol === 'https:' || protocol === 'http:'
}

const link = ({ url, displayName, type }: PolicyDocument): Child =>
  url && isFile(url)
    ? h(
        'a',
        { href: url, target: '_blank', rel: 'noopener noreferrer' },
        displayName,
        h('span', { class: 'hidden' }, ` (${type}, opens a new tab)`),
      )
    : displayName

export const documentTable = (
  caption: string,
  documents: readonly PolicyDocument[],
  deeds?: (document: PolicyDocument) => Child,
): View =>
  table(
    caption,
    [
      { head: VIEW.document, cell: link },
      { head: VIEW.type, cell: ({ type }) => type.toUpperCase() },
      {
        head: VIEW.state,
        cell: ({ state, failureMessage }) => [
          state ? badge(state) : '–',
          failureMessage && h('p', { class: 'small' }, failureMessage),
        ],
      },
      {
        head: VIEW.made,
        cell: ({ createdTimestamp }) => (createdTimestamp ? moment(createdTimestamp) : '–'),
      },
      ...(deeds ? [{ head: DESK.actions, cell: deeds }] : []),
    ],
    documents,
  )

const uploadButton = (policy: Policy): ActionButton => ({
  text: DESK.upload,
  permissions: ['policies.write'],
  open: async close => part((await desk()).Upload, { policy, close }),
})

/** Only for uploaded documents, which no transaction created. */
const removal = (policy: Policy, document: PolicyDocument, held: ReadonlySet<string>): Child =>
  document.policyModificationLocator === undefined &&
  actionButtons(
    [
      {
        text: DESK.remove,
        permissions: ['policies.write'],
        open: async close => part((await desk()).RemoveDocument, { policy, document, close }),
      },
    ],
    held,
  )

const FAILED: ReadonlySet<string> = new Set(['dataError', 'renderError', 'conversionError'])

const remaking = (policy: Policy, document: PolicyDocument, held: ReadonlySet<string>): Child =>
  FAILED.has(document.state ?? '') &&
  actionButtons(
    [
      {
        text: DESK.makeAgain,
        permissions: ['policies.write'],
        open: async close => part((await desk()).MakeDocumentAgain, { policy, document, close }),
      },
    ],
    held,
  )

export function documentsView(policy: Policy, { held }: Known): View {
  const nameOf = new Map(
    policy.modifications.map(modification => [modification.locator, transaction(modification.name)]),
  )
  const groups = Map.groupBy(
    policy.documents,
    one => nameOf.get(one.policyModificationLocator ?? '') ?? VIEW.policy,
  )
  // Documents of an issued policy cannot be removed.
  const isIssued = policy.modifications.some(modification => modification.issuedTimestamp !== undefined)
  const deedsOf = (documents: readonly PolicyDocument[]) =>
    isIssued && !documents.some(one => FAILED.has(one.state ?? ''))
      ? undefined
      : (one: PolicyDocument): Child => [!isIssued && removal(policy, one, held), remaking(policy, one, held)]
  const ofInvoices = policy.invoices.flatMap(invoice => invoice.documents)
  return h(
    'div',
    {},
    actionButtons([uploadButton(policy)], held),
    policy.documents.length + ofInvoices.length === 0 && emptyNote(VIEW.noDocuments),
    [...groups].map(([name, documents]) =>
      section(name, documentTable(VIEW.documentsOf(name), documents, deedsOf(documents))),
    ),
    ofInvoices.length > 0 &&
      section(VIEW.invoices, documentTable(VIEW.documentsOfInvoices, ofInvoices, deedsOf(ofInvoices))),
    h('p', { class: 'soft small' }, VIEW.linksHold),
  )
}
