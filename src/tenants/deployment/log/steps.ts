// The steps of a deploy or repair, as its log shows them.
import type { Configuration, Finding } from '../../../product/configuration.ts'
import type { DeploymentStep } from '../../../product/tables.ts'

/** Counts all findings that are not errors as warnings. */
export const countsOf = (findings: readonly Finding[]): { errors: number; warnings: number } => {
  const errors = findings.filter(({ severity }) => severity === 'ERROR').length
  return { errors, warnings: findings.length - errors }
}

export const receivedStep = (bytes: number): DeploymentStep => ({ step: 'received', counts: { bytes } })

export const checkedStep = (findings: readonly Finding[]): DeploymentStep => ({
  step: 'checked',
  counts: countsOf(findings),
})

function compiledStep({ products, tables, scripts }: Configuration): DeploymentStep {
  const all = Object.values(products)
  const size = (values: object): number => Object.keys(values).length
  return {
    step: 'compiled',
    counts: {
      products: all.length,
      tables: all.reduce((sum, product) => sum + size(product.tables), size(tables)),
      templates: all.reduce((sum, product) => sum + size(product.templates), 0),
      scripts: size(scripts),
    },
  }
}

type Deployed = {
  readonly version: number
  /** Hash of the archive before. Undefined if there was none to compare with. */
  readonly former?: string | undefined
  /** The number of changes that are incompatible with policies. */
  readonly incompatible: number
  readonly accounts: {
    readonly write: readonly unknown[]
    readonly remove: readonly unknown[]
    readonly revokesTokens: boolean
  }
}

/** Returns the steps that took place. `items` counts bootstrap resources that wait to be created; undefined if there are none. */
export function stepsOf(
  { zip, configuration }: { readonly zip: Uint8Array; readonly configuration: Configuration },
  { version, former, incompatible, accounts }: Deployed,
  found: readonly Finding[],
  items: number | undefined,
): DeploymentStep[] {
  const { write, remove, revokesTokens } = accounts
  const steps: (DeploymentStep | false)[] = [
    receivedStep(zip.length),
    checkedStep(found),
    compiledStep(configuration),
    former !== undefined && { step: 'compared', counts: { incompatible } },
    write.length + remove.length > 0 && {
      step: 'accounts',
      counts: { set: write.length, removed: remove.length },
    },
    revokesTokens && { step: 'tokensEnded', counts: {} },
    items !== undefined && { step: 'bootstrap', counts: { items } },
    { step: 'activated', counts: { version } },
  ]
  return steps.filter(step => step !== false)
}
