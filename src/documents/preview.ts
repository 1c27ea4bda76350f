// A template rendered over a policy for whoever writes it: one of the configuration, or a text that is not deployed yet.
import type { TemplateSource } from '../configuration/configuration.ts'
import { Refusal } from '../platform/errors.ts'
import type { Uuid } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import type { Loaded } from '../policies/surroundings.ts'
import { compileTemplate } from '../rating/liquid/compile.ts'
import type { RenderDocumentRequest } from './contract.ts'
import type { DocumentSubject } from './document.ts'
import { type MakingContext, makeDocument, type Product } from './make.ts'

/** The path that errors of a template name that is not deployed. */
const PREVIEW_PATH = 'preview.template.liquid'

type File = Extract<Product, { outcome: 'ready' }>

/** The file; refuses with 404 what the policy does not have, with 422 and the template's line what fails. */
export async function rendered(
  request: RenderDocumentRequest,
  now: Instant,
  context: MakingContext,
): Promise<File> {
  const source = sourceOf(request, context.loaded)
  const loaded: Loaded = {
    ...context.loaded,
    product: { ...context.loaded.product, templates: { [source.path]: source } },
    ...(source.path === PREVIEW_PATH && { configuration: withPreview(source, context.loaded.configuration) }),
  }
  const { type = 'pdf', pageLayout } = request
  const document = {
    ...subjectOf(request, loaded),
    templateName: source.path,
    type,
    pageLayout,
    createdAt: now,
  }
  const product = await makeDocument(document, { ...context, loaded })
  if (product.outcome === 'ready') return product
  if (product.outcome === 'none')
    throw new Refusal(
      'templateFailed',
      `${source.path} says that there is to be no document (render_static_document).`,
    )
  throw new Refusal(
    product.outcome === 'conversionError' ? 'templateLimit' : 'templateFailed',
    product.failure,
  )
}

function sourceOf({ template, templateName }: RenderDocumentRequest, { product }: Loaded): TemplateSource {
  if (template !== undefined) return { path: PREVIEW_PATH, source: template }
  const source = ['', '.template.liquid', '.liquid']
    .map(end => product.templates[templateName + end])
    .find(one => one !== undefined)
  if (!source)
    throw new Refusal(
      'notFound',
      `The configuration has no template '${templateName}'; send its text as 'template'.`,
    )
  return source
}

/** The configuration, which compiles this template anew: an earlier preview had the same path. */
function withPreview(
  source: TemplateSource,
  configuration: Loaded['configuration'],
): Loaded['configuration'] {
  const { template, findings } = compileTemplate(source)
  const error = findings.find(one => one.severity === 'ERROR')
  if (!template || error)
    throw new Refusal('templateFailed', `${source.path}:${error?.line}:${error?.column}: ${error?.message}`)
  return {
    ...configuration,
    template: asked => (asked === source ? template : configuration.template(asked)),
  }
}

type Subject = { subject: DocumentSubject; subjectLocator: string; modificationLocator?: Uuid }

/** What the document is of: the record that the request names, or the policy. */
function subjectOf(request: RenderDocumentRequest, { aggregate }: Loaded): Subject {
  const {
    endorsementLocator,
    renewalLocator,
    cancellationLocator,
    reinstatementLocator,
    invoiceLocator,
    gracePeriodLocator,
    lapseLocator,
    quoteLocator,
  } = request
  const found = <R extends { modificationLocator?: Uuid; policyModificationLocator?: Uuid }>(
    subject: DocumentSubject,
    locator: string,
    record: R | undefined,
  ): Subject => {
    if (!record)
      throw new Refusal('notFound', `Policy ${aggregate.policy.locator} has no ${subject} '${locator}'.`)
    const modificationLocator = record.modificationLocator ?? record.policyModificationLocator
    return { subject, subjectLocator: locator, modificationLocator }
  }
  const transaction = endorsementLocator ?? renewalLocator
  if (transaction !== undefined) {
    const record = aggregate.endorsements.get(Number(transaction) as never)
    const subject = endorsementLocator === undefined ? 'renewal' : 'endorsement'
    return found(subject, transaction, record?.kind === subject ? record : undefined)
  }
  if (cancellationLocator !== undefined)
    return found(
      'cancellation',
      cancellationLocator,
      aggregate.cancellations.get(Number(cancellationLocator) as never),
    )
  if (reinstatementLocator !== undefined) {
    const ofLapse = aggregate.lapseReinstatements.get(reinstatementLocator as Uuid)
    if (ofLapse) return found('lapseReinstatement', reinstatementLocator, ofLapse)
    return found(
      'reinstatement',
      reinstatementLocator,
      aggregate.reinstatements.get(reinstatementLocator as Uuid),
    )
  }
  if (invoiceLocator !== undefined)
    return found('invoice', invoiceLocator, aggregate.invoices.get(invoiceLocator as Uuid))
  if (gracePeriodLocator !== undefined)
    return found(
      'gracePeriod',
      gracePeriodLocator,
      aggregate.gracePeriods.get(gracePeriodLocator as Uuid) && {},
    )
  if (lapseLocator !== undefined)
    return found('lapse', lapseLocator, aggregate.lapses.get(lapseLocator as Uuid))
  if (quoteLocator !== undefined)
    return found('quote', quoteLocator, aggregate.quotes.get(Number(quoteLocator) as never) && {})
  return { subject: 'policy', subjectLocator: String(aggregate.policy.locator) }
}
