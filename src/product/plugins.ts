import type { ProductDefinition } from './configuration.ts'

/** The functions that products may have (brief 5.6). */
export const PLUGIN_FUNCTIONS = [
  'getPerilRates',
  'getUnderwritingResult',
  'getProrationResult',
  'createInstallments',
  'getPreGraceResult',
  'getPostPaymentReversal',
  'getPostIssuanceResult',
  'getDataAutofill',
  'executeLambda',
] as const

export type PluginFunction = (typeof PLUGIN_FUNCTIONS)[number]

/**
 * (decision) What these answer may all be left out, so that a script which has nothing to say may return nothing, or
 * null: a branch that ends in `return`. The others have to say something: of `undefined` a rate cannot be made.
 */
export const MAY_RETURN_NOTHING: readonly PluginFunction[] = [
  'getPreGraceResult',
  'getPostPaymentReversal',
  'getPostIssuanceResult',
  'getDataAutofill',
  'executeLambda',
]

export const isPluginFunction = (name: string): name is PluginFunction =>
  (PLUGIN_FUNCTIONS as readonly string[]).includes(name)

/** Whether the product has the function of its own: it wins over templates then (brief 5.5). */
export const hasPlugin = ({ plugins }: Pick<ProductDefinition, 'plugins'>, name: PluginFunction): boolean =>
  plugins[name]?.enabled === true

/** Calls a function of a product; what it answers is not checked. Refuses (422) when it fails. */
export type PluginCaller = (name: PluginFunction, ...given: unknown[]) => Promise<unknown>
