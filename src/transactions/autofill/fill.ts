// Fills in requests before they are validated (brief 1.2, 1.4, 5.6), with the product's plugin and external services.
import type { z } from 'zod'
import { callSequence, type Filling, INTERNAL } from '../../extension/integrations/autofill/sequence.ts'
import { callIntegration, integrationFailed } from '../../extension/integrations/call/call.ts'
import { integrationsOf } from '../../extension/integrations/store.ts'
import type { AttemptCalls, PluginSubject } from '../../extension/plugins/attempt-calls.ts'
import type { AutofillInput } from '../../extension/plugins/contract.ts'
import { invalidAnswer, problemOf, readAnswer } from '../../extension/plugins/translation.ts'
import { invalidRequest, Refusal } from '../../kernel/errors.ts'
import { type PolicyLocator, shardOfDigits } from '../../kernel/locators.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { issuesOf } from '../../platform/wire-problem.ts'
import { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import {
  type Endorsement,
  type EndorsementChanges,
  namedExposures,
} from '../../policy/records/transactions.ts'
import { basisOfNewPolicy, basisOfRequest } from '../../policy/selection-basis.ts'
import { type Loaded, NeedsWholePolicy, type NewPolicyContext } from '../../policy/surroundings.ts'
import { assertPolicyAllows } from '../../policy/transitions.ts'
import { hasPlugin } from '../../product/configuration.ts'
import type { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { type Known, knownOfNewPolicy, knownOfRequest, toRequestNames, updatesFor } from './times.ts'
import {
  type FilledKind,
  listNames,
  mergeFilled,
  problemInWords,
  shownWords,
  type Words,
  withoutEnded,
  withWords,
  wordsOf,
} from './words.ts'

/** Refusals to which a list of the filled properties and their fillers is added. */
const CONTENT_ERRORS: ReadonlySet<string> = new Set(['policyValidation', 'invalidRequest', 'policyLimit'])

type Fillable = { readonly autofill?: readonly string[] }

type When = Pick<Parameters<typeof basisOfRequest>[1], 'at' | 'begins'> & {
  /** Field values that the request sets. */
  readonly asked?: unknown
  /** The record that the request updates. */
  readonly record?: Endorsement
}

type Filled<R> = {
  readonly kind: FilledKind
  readonly request: R
  /** Reads the filled request. */
  readonly contract: z.ZodType<R>
  readonly filling: Omit<AutofillInput, 'updates' | 'tenantTimeZone'>
  readonly newPolicy: Pick<NewPolicyContext, 'product' | 'configuration' | 'configVersion'>
  /** Selects the tables for the plugin. */
  readonly basis: ReturnType<typeof basisOfRequest>
  readonly timeZone: TimeZone
  readonly known: Known
}

/** Fills in the requests of one attempt at an operation on a policy. */
export class Autofill {
  readonly #context: RequestContext
  readonly #policy: PolicyLocator
  readonly #plugins: AttemptCalls
  readonly #tables: RatingTables
  /** The properties filled in so far, and by which filler. */
  readonly #notes: string[] = []

  constructor(context: RequestContext, policy: PolicyLocator, plugins: AttemptCalls, tables: RatingTables) {
    this.#context = context
    this.#policy = policy
    this.#plugins = plugins
    this.#tables = tables
  }

  get now(): Instant {
    return this.#context.now
  }

  creation(request: PolicyCreateRequest, newPolicy: NewPolicyContext): Promise<PolicyCreateRequest> {
    const { product, policyholder, timeZone } = newPolicy
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
      newPolicy,
      basis,
      timeZone,
      known: knownOfNewPolicy(request, timeZone, now),
    })
  }

  /** Rejects with 409 a policy that is not a draft, before it calls a filler. */
  async update(request: PolicyUpdateRequest, loaded: Loaded): Promise<PolicyUpdateRequest> {
    assertPolicyAllows(loaded.aggregate, 'update')
    const at = (request.policyStartTimestamp ?? selectedQuote(loaded.aggregate).contractStart) as Instant
    const filling = { operation: 'newBusiness', operationType: 'update' } as const
    return await this.fill(loaded, 'policy', request, PolicyUpdateRequest, filling, {
      at,
      begins: 'policy',
    })
  }

  /** Adds to a refusal of the content which properties were filled in, and by which filler. */
  async explaining<T>(decided: Promise<T>): Promise<T> {
    try {
      return await decided
    } catch (problem) {
      if (!(problem instanceof Refusal) || !CONTENT_ERRORS.has(problem.code) || this.#notes.length === 0)
        throw problem
      throw new Refusal(problem.code, `${problem.message} ${this.#notes.join(' ')}`, problem.details)
    }
  }

  /** Fills in the request of a transaction. Throws `NeedsWholePolicy` if a filler names an exposure that was not loaded. */
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
      newPolicy: { product, configuration, configVersion },
      basis,
      timeZone,
      known: knownOfRequest(kind, request, { aggregate, record: when.record, now: this.#context.now }),
    })
    // Only the part of a large policy that the request names is loaded, and fillers may name more.
    const read = new Set(namedExposures(request))
    if (unread && namedExposures(filled).some(one => !read.has(one))) throw new NeedsWholePolicy()
    return filled
  }

  async #filled<R extends Fillable>(given: Filled<R>): Promise<R> {
    const { kind, contract, filling, timeZone, known, ...rest } = given
    const { product, configuration, configVersion } = rest.newPolicy
    const { autofill: asked, ...request } = rest.request
    const policyLocator = String(this.#policy)
    const tables = this.#tables.of(configuration, product.name, rest.basis)
    const subject = { product, configuration, configVersion, policyLocator, tables }
    let filled = request as R
    for (const filler of this.#fillers(asked, filling, subject)) {
      const before = wordsOf(kind, filled)
      const updates = updatesFor(kind, known, shownWords(before)) as AutofillInput['updates']
      filled = await filler.fill({ ...filling, updates, tenantTimeZone: timeZone }, (answer, unfit) => {
        const words = wordsOf(kind, toRequestNames(kind, answer, updates))
        if (Object.keys(words).length === 0) return filled
        const after = mergeFilled(before, words)
        // For an existing policy, values that conditions depend on may be stored rather than in the request, so all are kept.
        const fitting =
          kind === 'newPolicy'
            ? withoutEnded(product.fields, { before, answer: words, after }, timeZone)
            : after
        const read = contract.safeParse(withWords(kind, filled, fitting))
        if (!read.success)
          throw unfit(issuesOf(read.error).map(({ message }) => problemInWords(kind, message)))
        this.#notes.push(`Completed by ${filler.name}: ${listNames(words)}.`)
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
        ? pluginFiller(this.#plugins, subject)
        : serviceFiller(this.#context, this.#policy, name),
    )
  }
}

/** `unfit` creates the refusal for these reasons. */
type Reading<T> = (answer: Words, unfit: (problems: readonly string[]) => Refusal) => T

type Filler = {
  /** The name that messages use. */
  readonly name: string
  /** Rejects with 409 and the `exceptionMessage` if the filler returns one. */
  fill<T>(input: AutofillInput, read: Reading<T>): Promise<T>
}

/** Rejects failures and invalid answers with 422. */
const pluginFiller = (plugins: AttemptCalls, subject: PluginSubject): Filler => ({
  name: 'plugin getDataAutofill',
  fill: async (input, read) => {
    const { AutofillResult } = await import('../../extension/plugins/contract.ts')
    const { path } = subject.product.plugins.getDataAutofill!
    const answer = (await plugins.call(subject, 'getDataAutofill', [input])) ?? {}
    const { exceptionMessage, ...words } = readAnswer('getDataAutofill', AutofillResult, answer, path)
    if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
    return read(words, problems => invalidAnswer('getDataAutofill', problems, path))
  },
})

/** Answers of services by request, so that another attempt at the same request does not call them again. */
const answered = new WeakMap<RequestContext, Map<string, Words>>()

/** The most problems that a message lists. A service that is wrong about one exposure is usually wrong about all of them. */
const MOST_LISTED = 5

/** Sends the plugin's input by POST. Rejects failures and invalid answers with 502. */
function serviceFiller(context: RequestContext, policy: PolicyLocator, name: string): Filler {
  const known = answered.get(context) ?? new Map<string, Words>()
  answered.set(context, known)
  return {
    name: `service '${name}'`,
    fill: async (input, read) => {
      const integration = (await integrationsOf(context)).get(name)
      if (integration?.type !== 'data_autofill') throw unknownService(name)
      const invalidAnswerRefusal = (problems: readonly string[]) => {
        const more = problems.length > MOST_LISTED ? `; and ${problems.length - MOST_LISTED} more` : ''
        const listed = `${problems.slice(0, MOST_LISTED).join('; ')}${more}`
        return integrationFailed(integration, `its response is invalid: ${listed}`)
      }
      const call = `${name}\n${JSON.stringify(input)}`
      const before = known.get(call)
      if (before) return read(before, invalidAnswerRefusal)
      const { AutofillResult } = await import('../../extension/plugins/contract.ts')
      return await callIntegration(context, integration, {
        shard: shardOfDigits(policy),
        operation: `${input.operation}.${input.operationType}`,
        ...(input.policyLocator !== undefined && { policyLocator: input.policyLocator }),
        input,
        read: answer => {
          const { success, data, error } = AutofillResult.safeParse(answer ?? {})
          if (!success) throw invalidAnswerRefusal(issuesOf(error).map(one => problemOf(one)))
          const { exceptionMessage, ...words } = data
          if (exceptionMessage !== undefined) throw new Refusal('integrationRefused', exceptionMessage)
          known.set(call, words)
          return read(words, invalidAnswerRefusal)
        },
      })
    },
  }
}

const unknownService = (name: string): Refusal =>
  invalidRequest(
    `'${name}' should complete the request, but no integration of type data_autofill has that name. GET /integrations lists the integrations; name another one in autofill, or register others with PUT /integrations/autofill.`,
  )
