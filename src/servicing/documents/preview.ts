// A template rendered over a policy for whoever writes it: one that documents of the policy would use now, be it a resource
// in force or the configuration's, or a text that is not deployed yet.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RenderDocumentRequest } from '../../policy/contract/documents.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import type { DocumentSubject } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { TemplateText } from '../../reference/templates/document-resources.ts'
import { creationOf, TEMPLATE_ENDINGS } from '../../transactions/documents/planned.ts'
import { uploadedName } from '../../transactions/documents/upload.ts'
import { type MakingContext, makeDocument, type Product } from './make.ts'

/** How messages name a text that is not deployed. */
const PREVIEW_NAME = 'preview'

/** The file, named after its template: documents of one template may have several names. */
export type RenderedFile = Pick<Extract<Product, { outcome: 'ready' }>, 'type' | 'bytes'> & {
  readonly displayName: string
  readonly fileName: string
}

/** The file; refuses with 404 what the policy does not have, with 422 and the template's line and column what fails. */
export async function rendered(
  request: RenderDocumentRequest,
  now: Instant,
  context: MakingContext,
): Promise<RenderedFile> {
  const { type = 'pdf', pageLayout, template: text, templateFormat = 'liquid' } = request
  const { loaded } = context
  const templateName = templateNameOf(request, loaded)
  const template: TemplateText | undefined =
    text === undefined ? undefined : { name: PREVIEW_NAME, format: templateFormat, source: text }
  const document = { ...subjectOf(request, loaded), templateName, type, pageLayout, createdAt: now }
  const product = await makeDocument(document, { ...context, template })
  if (product.outcome === 'ready') {
    const { type: made, bytes } = product
    const displayName = withoutEnding(templateName)
    return { type: made, bytes, displayName, fileName: uploadedName(displayName, made) }
  }
  if (product.outcome === 'none')
    throw new Refusal(
      'templateFailed',
      `${templateName} says that there is to be no document (render_static_document).`,
    )
  if (
    product.outcome === 'dataError' &&
    text === undefined &&
    !Object.hasOwn(loaded.product.templates, templateName)
  )
    throw new Refusal(
      'notFound',
      `The configuration has no template '${templateName}', and none of that name is in force as a resource; send its text as 'template'.`,
    )
  const isLimit = product.outcome === 'conversionError' || product.isLimit === true
  throw new Refusal(isLimit ? 'templateLimit' : 'templateFailed', product.failure)
}

/** The configuration's name of the template, else the name as it came, which may be a resource's static name. */
const templateNameOf = ({ templateName }: RenderDocumentRequest, { product }: Loaded): string =>
  ['', ...TEMPLATE_ENDINGS]
    .map(end => (templateName ?? PREVIEW_NAME) + end)
    .find(one => templateName !== undefined && Object.hasOwn(product.templates, one)) ??
  templateName ??
  PREVIEW_NAME

const withoutEnding = (name: string): string =>
  name.replace(/(?:\.template)?\.(?:liquid|vm|velocity|pdf|html?)$/i, '')

type Subject = { subject: DocumentSubject; subjectLocator: string; modificationLocator?: Uuid }

/** What the document is of: the record that the request names, or the policy. 404 for a record that the policy does not have. */
function subjectOf(request: RenderDocumentRequest, { aggregate }: Loaded): Subject {
  const { cancellations, endorsements, gracePeriods, invoices, lapseReinstatements, lapses } = aggregate
  const creation = (quote: number) => ({ modificationLocator: creationOf(aggregate, quote)?.locator })
  const named = (record: 'endorsement' | 'renewal', locator: string): Found => {
    const found = endorsements.get(Number(locator) as never)
    return found?.kind === record ? found : undefined
  }
  const ofLapse = lapseReinstatements.get(request.reinstatementLocator as Uuid)
  const lookUps: readonly [DocumentSubject, string | undefined, (locator: string) => Found][] = [
    ['endorsement', request.endorsementLocator, locator => named('endorsement', locator)],
    ['renewal', request.renewalLocator, locator => named('renewal', locator)],
    ['cancellation', request.cancellationLocator, locator => cancellations.get(Number(locator) as never)],
    ofLapse
      ? ['lapseReinstatement', request.reinstatementLocator, () => ofLapse]
      : [
          'reinstatement',
          request.reinstatementLocator,
          locator => aggregate.reinstatements.get(locator as Uuid),
        ],
    ['invoice', request.invoiceLocator, locator => invoices.get(locator as Uuid)],
    ['gracePeriod', request.gracePeriodLocator, locator => gracePeriods.get(locator as Uuid) && {}],
    ['lapse', request.lapseLocator, locator => lapses.get(locator as Uuid)],
    [
      'quote',
      request.quoteLocator,
      locator => {
        const quote = aggregate.quotes.get(Number(locator) as never)
        return quote && creation(quote.locator)
      },
    ],
  ]
  const { locator: policy } = aggregate.policy
  const asked = lookUps.find(([, locator]) => locator !== undefined)
  if (!asked)
    return {
      subject: 'policy',
      subjectLocator: String(policy),
      ...creation(selectedQuote(aggregate).locator),
    }
  const [subject, locator, find] = asked
  const record = find(locator!)
  if (!record) throw new Refusal('notFound', `Policy ${policy} has no ${subject} '${locator}'.`)
  const modificationLocator = record.modificationLocator ?? record.policyModificationLocator
  return { subject, subjectLocator: locator!, modificationLocator }
}

type Found = { modificationLocator?: Uuid; policyModificationLocator?: Uuid } | undefined
