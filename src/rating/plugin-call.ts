// Calls of plugins that follow a transaction: what they answer is read by their contracts, and numbers go in as text.
import type { z } from 'zod'
import type { PolicyInfo } from '../extension/plugins/contract.ts'
import type { PluginSubject } from '../extension/plugins/session.ts'
import { readAnswer } from '../extension/plugins/translation.ts'
import { type ErrorCode, Refusal } from '../kernel/errors.ts'
import { type PolicyAggregate, selectedQuote } from '../policy/records/aggregate.ts'
import { basisAt, type Loaded } from '../policy/surroundings.ts'
import type { PluginFunction } from '../product/configuration.ts'
import { type Attempt, tablesOf } from './rate.ts'

type Contract = typeof import('../extension/plugins/contract.ts')

/** One function of the policy's product, with what it is given. */
export type PluginQuestion<S extends z.ZodType> = {
  readonly name: PluginFunction
  readonly answer: (contract: Contract) => S
  readonly input: object
}

/**
 * What the plugin answers, where `accept` takes it; nothing is an answer that says nothing. Refuses (422) a call that
 * fails, and an answer that is not so.
 */
export async function askPlugin<S extends z.ZodType, A>(
  loaded: Loaded,
  attempt: Attempt,
  { name, answer, input }: PluginQuestion<S>,
  accept: (answer: z.output<S>) => A,
): Promise<A> {
  if (!attempt.plugins) throw new Error(`Plugin ${name} has no sandbox to be called in.`)
  const given = (await attempt.plugins.call(subjectOf(loaded, attempt), name, [input])) ?? {}
  const contract = answer(await import('../extension/plugins/contract.ts'))
  return accept(readAnswer(name, contract, given, loaded.product.plugins[name]!.path))
}

/**
 * As `askPlugin`, where nobody waits for an answer who could be refused one: what is wrong is written into the
 * plugin's log with `otherwise`, what happens instead, and undefined is answered. Throws what is no fault of the plugin.
 */
export async function askPluginUnattended<S extends z.ZodType, A>(
  loaded: Loaded,
  attempt: Attempt,
  question: PluginQuestion<S>,
  accept: (answer: z.output<S>) => A,
  otherwise: string,
): Promise<A | undefined> {
  try {
    return await askPlugin(loaded, attempt, question, accept)
  } catch (problem) {
    if (!(problem instanceof Refusal && OF_PLUGINS.has(problem.code))) throw problem
    attempt.plugins!.disregard(
      subjectOf(loaded, attempt),
      question.name,
      `${problem.message.replace(/\.?$/, '.')} ${otherwise}`,
    )
    return undefined
  }
}

const OF_PLUGINS: ReadonlySet<ErrorCode> = new Set(['pluginFailed', 'pluginLimit'])

/** Tables are those in force when the policy or its term began, or now: what asks is no transaction. */
const subjectOf = (loaded: Loaded, attempt: Attempt): PluginSubject => {
  const { aggregate, configuration, product } = loaded
  const { configVersion, locator } = aggregate.policy
  const tables = tablesOf(loaded, attempt, basisAt(loaded, attempt.now, attempt.now))
  return { configuration, product, configVersion, policyLocator: String(locator), tables }
}

/** What plugins are told of a policy that they are not given whole (brief 5.6). */
export const policyInfo = (aggregate: PolicyAggregate): PolicyInfo => ({
  locator: String(aggregate.policy.locator),
  policyholderLocator: aggregate.policy.policyholderLocator,
  productName: aggregate.policy.productName,
  originalContractStartTimestamp: String(aggregate.policy.originalStart),
  currency: aggregate.policy.currency,
  quoteLocator: String(selectedQuote(aggregate).locator),
})
