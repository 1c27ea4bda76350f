// The boat product with installments that a plugin plans.
import { boatFiles } from './boat-product.ts'

const POLICY = 'products/boat/policy/policy.json'
const FEES = 'products/boat/policy/fees.json'

/**
 * Files that replace those of the boat product: the script plans its installments and may charge `installment_fee`. `rules` are
 * properties of policy.json.
 */
export function ownBillsFiles(script: string, rules: object = {}): Record<string, string> {
  const files = boatFiles('EUR', false)
  const policy = JSON.parse(files[POLICY]!) as object
  const { fees } = JSON.parse(files[FEES]!) as { fees: object[] }
  return {
    'scripts/main/installments.js': script,
    [POLICY]: JSON.stringify({
      ...policy,
      ...rules,
      plugins: { createInstallments: { path: 'main/installments.js', enabled: true } },
    }),
    [FEES]: JSON.stringify({ fees: [...fees, { name: 'installment_fee', displayName: 'By installments' }] }),
  }
}
