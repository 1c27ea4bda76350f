import type { ProductDefinition } from '../configuration/configuration.ts'

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

export const isPluginFunction = (name: string): name is PluginFunction =>
  (PLUGIN_FUNCTIONS as readonly string[]).includes(name)

/** Whether the product has the function of its own: it wins over templates then (brief 5.5). */
export const hasPlugin = ({ plugins }: Pick<ProductDefinition, 'plugins'>, name: PluginFunction): boolean =>
  plugins[name]?.enabled === true

/** Calls a function of a product; what it answers is not checked. Refuses (422) when it fails. */
export type PluginCaller = (name: PluginFunction, ...given: unknown[]) => Promise<unknown>
