// Fills requests in before they are validated (brief 1.2, 1.4 and 5.6): by the product's plugin and by services outside.
import type { z } from 'zod'
import { callSequence, type Filling, INTERNAL } from '../../extension/integrations/autofill/sequence.ts'
import type { AutofillInput } from '../../extension/plugins/contract.ts'
import type { PluginSession, PluginSubject } from '../../extension/plugins/session.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { PolicyLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import { type EndorsementChanges, namedExposures } from '../../policy/records/changes.ts'
import {
  basisOfNewPolicy,
  basisOfRequest,
  type Ground,
  type Loaded,
  NeedsWholePolicy,
} from '../../policy/surroundings.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import { hasPlugin } from '../../product/configuration.ts'
import type { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { type Filler, pluginFiller, serviceFiller } from './fillers.ts'
import { merged, named } from './merge.ts'
import { type FilledKind, shownWords, withWords, wordsOf } from './words.ts'

/** Refusals of what a request says, where it matters who said it. */
const OF_CONTENT: ReadonlySet<string> = new Set(['policyValidation', 'invalidRequest', 'policyLimit'])

type Fillable = { readonly autofill?: readonly string[] }

/** The time of what a request asks for, and whether a policy or a term begins then. */
type When = Pick<Parameters<typeof basisOfRequest>[1], 'at' | 'begins'> & {
  /** Field values that it asks for already. */
  readonly asked?: unknown
}

/** What is filled in, beside the request itself. */
type Filled<R> = {
  readonly kind: FilledKind
  readonly request: R
  /** Reads the request with what was filled in. */
  readonly contract: z.ZodType<R>
  readonly filling: Omit<AutofillInput, 'updates' | 'tenantTimeZone'>
  readonly subject: PluginSubject
  readonly timeZone: string
}

/** Fills in the requests of one attempt at an operation on a policy. */
export class Autofill {
  readonly #context: RequestContext
  readonly #policy: PolicyLocator
  readonly #session: PluginSession
  readonly #tables: RatingTables
  /** What was filled in so far, and by whom. */
  readonly #told: string[] = []

  constructor(context: RequestContext, policy: PolicyLocator, session: PluginSession, tables: RatingTables) {
    this.#context = context
    this.#policy = policy
    this.#session = session
    this.#tables = tables
  }

  get now(): Instant {
    return this.#context.now
  }

  /** A new policy's request, filled in. */
  creation(request: PolicyCreateRequest, ground: Ground): Promise<PolicyCreateRequest> {
    const { product, configuration, configVersion, policyholder, timeZone } = ground
    const { now } = this.#context
    const { policyStartTimestamp, fieldValues } = request
    const at = (policyStartTimestamp ?? now) as Instant
    const basis = basisOfNewPolicy(product, { at, fieldValues }, now)
    return this.#filled({
      kind: 'newPolicy',
      request,
      contract: PolicyCreateRequest,
      filling: {
        operation: 'newBusiness',
        operationType: 'create',
        productName: product.name,
        policyholderLocator: policyholder.locator,
      },
      subject: {
        product,
        configuration,
        configVersion,
        policyLocator: String(this.#policy),
        tables: this.#tables.of(configuration, product.name, basis),
      },
      timeZone,
    })
  }

  /** A draft's update, filled in; refuses (409) where the policy is no draft, before anything is called. */
  async update(request: PolicyUpdateRequest, loaded: Loaded): Promise<PolicyUpdateRequest> {
    assertPolicyAllows(loaded.aggregate, 'update')
    const at = (request.policyStartTimestamp ?? selectedQuote(loaded.aggregate).contractStart) as Instant
    const filling = { operation: 'newBusiness', operationType: 'update' } as const
    return await this.fill(loaded, 'policy', request, PolicyUpdateRequest, filling, {
      at,
      begins: 'policy',
    })
  }

  /** What was decided; a refusal of the request's content says what of it was filled in, and by whom. */
  async explaining<T>(decided: Promise<T>): Promise<T> {
    try {
      return await decided
    } catch (problem) {
      if (!(problem instanceof Refusal) || !OF_CONTENT.has(problem.code) || this.#told.length === 0)
        throw problem
      throw new Refusal(problem.code, `${problem.message} ${this.#told.join(' ')}`, problem.details)
    }
  }

  /** The request of a transaction of a policy, filled in by the product's plugin and by services. */
  async fill<R extends Fillable & EndorsementChanges>(
    { aggregate, product, configuration, unread }: Loaded,
    kind: FilledKind,
    request: R,
    contract: z.ZodType<R>,
    filling: Pick<AutofillInput, 'operation' | 'operationType' | 'endorsementLocator' | 'renewalLocator'>,
    when: When,
  ): Promise<R> {
    const { locator, policyholderLocator, configVersion, timeZone } = aggregate.policy
    const fieldValues = { ...(when.asked ?? {}), ...(request.fieldValues ?? {}) }
    const basis = basisOfRequest({ aggregate, product }, { ...when, fieldValues }, this.#context.now)
    const filled = await this.#filled({
      kind,
      request,
      contract,
      filling: {
        ...filling,
        productName: product.name,
        policyholderLocator,
        policyLocator: String(locator),
      },
      subject: {
        product,
        configuration,
        configVersion,
        policyLocator: String(locator),
        tables: this.#tables.of(configuration, product.name, basis),
      },
      timeZone,
    })
    // Of a large policy, what the request named was read: what is filled in may be about more.
    const read = new Set(namedExposures(request))
    if (unread && namedExposures(filled).some(one => !read.has(one))) throw new NeedsWholePolicy()
    return filled
  }

  async #filled<R extends Fillable>(of: Filled<R>): Promise<R> {
    const { kind, contract, filling, subject, timeZone } = of
    const { autofill: asked, ...request } = of.request
    let filled = request as R
    for (const filler of this.#fillers(asked, filling, subject)) {
      const before = wordsOf(kind, filled)
      const updates = shownWords(before) as AutofillInput['updates']
      filled = await filler.fill({ ...filling, updates, tenantTimeZone: timeZone }, (answer, unfit) => {
        const words = wordsOf(kind, answer)
        if (Object.keys(words).length === 0) return filled
        const read = contract.safeParse(withWords(kind, filled, merged(before, words)))
        if (!read.success) throw unfit(read.error.issues.map(({ message }) => message.replace(/\.$/, '')))
        this.#told.push(`Filled in by ${filler.name}: ${named(words).join(', ')}.`)
        return read.data
      })
    }
    return filled
  }

  #fillers(asked: readonly string[] | undefined, filling: Filling, subject: PluginSubject): Filler[] {
    const { tenant } = this.#context
    const has = hasPlugin(subject.product, 'getDataAutofill')
    return callSequence(asked, tenant.autofill ?? {}, filling, has).map(name =>
      name === INTERNAL
        ? pluginFiller(this.#session, subject)
        : serviceFiller(this.#context, this.#policy, name),
    )
  }
}
