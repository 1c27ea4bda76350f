import { type ArchiveFiles, motorWithoutPapers } from './examples.ts'

const POLICY = 'products/private_motor/policy/policy.json'

/** The motor example without documents, with a getDataAutofill plugin that has this source. */
export function autofilled(source: string): ArchiveFiles {
  const files = motorWithoutPapers()
  const policy = JSON.parse(files[POLICY] as string)
  policy.plugins.getDataAutofill = { path: 'main/dataAutofill.js', enabled: true }
  return { ...files, [POLICY]: JSON.stringify(policy), 'scripts/main/dataAutofill.js': source }
}
