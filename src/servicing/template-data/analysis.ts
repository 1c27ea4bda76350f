// The checks of src/product/check/strict with the data that templates and plugins receive. A deploy loads them as a separate
// bundle (scripts/bundles.ts), so that they and the contracts that they read are not part of the Worker's start-up.
import { SCRIPT_FUNCTIONS } from '../../extension/plugins/runners/script-api.ts'
import { type Analysis, analysisOver, type DataOfSources } from '../../product/check/strict/analysis.ts'
import type { FieldDefinition } from '../../product/configuration.ts'
import { problemsOfTable } from '../../reference/constraints/table-problems.ts'
import { PLUGIN_INPUTS } from './plugin-inputs.ts'
import { fieldData, templateTree } from './template-tree.ts'

/** The data for the premium of one peril: its exposure and peril have their own fields and no others. */
const premiumTree: DataOfSources['premiumTree'] = (tree, exposure, peril) => {
  const partWithFields = (name: string, of: string, fields: readonly FieldDefinition[]) => {
    const part = tree.members![name]!
    return { [name]: { ...part, members: { ...part.members, ...fieldData(of, { fields, parts: 1 }) } } }
  }
  return {
    ...tree,
    members: {
      ...tree.members,
      ...partWithFields('exposure_characteristics', 'exposure', exposure.fields),
      ...partWithFields('peril_characteristics', 'peril', peril.fields),
    },
  }
}

/** A deploy and `bindery check` pass it to `compileArchive`. */
export const analyse: Analysis = analysisOver({
  templateTree,
  premiumTree,
  pluginInputs: PLUGIN_INPUTS,
  scriptFunctions: SCRIPT_FUNCTIONS,
  problemsOfTable,
})
